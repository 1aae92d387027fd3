package programs_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/programs"
)

func TestServicesAreShownStartedAndStopped(t *testing.T) {
	table(t, `
		read-only | systemctl status nginx --no-pager
		write | systemctl start nginx
		dangerous | systemctl restart nginx
		dangerous | systemctl --no-pager stop nginx
		dangerous | systemctl poweroff
		unknown | systemctl -H root@other status x
		unknown | systemctl $VERB nginx
		unknown | systemctl frobnicate
		sensitive-read | systemctl show-environment
		write | service nginx reload
		dangerous | service nginx stop
		write | journalctl --rotate
		read-only | exim -bpc
		read-only | exim4 -bp
		write | exim4 -bp -M 1
		write | exim4 -bd
		read-only | busctl tree
		read-only | busctl --no-pager --system tree
		unknown | busctl tree org.freedesktop.PackageKit
		read-only | busctl status org.freedesktop.PackageKit
		read-only | journalctl -u nginx -o json -n 5
		read-only | journalctl -t systemd-coredump
		sensitive-read | journalctl -t systemd-coredump -o json
		sensitive-read | journalctl -u systemd-coredump@0 --output=verbose
		sensitive-read | journalctl -o export COREDUMP_UNIT=nginx.service
		read-only | journalctl -t systemd-coredump -o json --output-fields=MESSAGE
		dangerous | journalctl --vacuum-size=1M
		write | journalctl --cursor-file=pwned
		unknown | journalctl -fu nginx
		dangerous | crontab -r
		unknown | crontab -e
		forbidden | crontab file
		forbidden | crontab -
		unknown | at now
		sensitive-read | coredumpctl dump 1
	`)
}

func TestAPagerThatSomebodyTypesIntoIsNoRead(t *testing.T) {
	arg := func(s string) programs.Arg { return programs.Arg{Text: s, Literal: true, Source: s} }
	for _, name := range []string{"systemctl", "git", "man"} {
		verb := map[string]string{"systemctl": "status", "git": "log", "man": "ls"}[name]
		c := programs.Call{Direct: true, Name: name, Args: []programs.Arg{arg(verb)}}
		assert.Equal(t, policy.ReadOnly, programs.Judge(c).Class, name)
		c.Interactive = true
		assert.Equal(t, policy.Unknown, programs.Judge(c).Class, name)
	}
	c := programs.Call{Direct: true, Name: "git", Args: []programs.Arg{arg("--no-pager"), arg("log")}, Interactive: true}
	assert.Equal(t, policy.ReadOnly, programs.Judge(c).Class)
}

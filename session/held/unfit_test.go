package held_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/held"
)

func TestUnfitProgramsAreKnownByTheirWords(t *testing.T) {
	for _, c := range []struct {
		name  string
		args  []string
		unfit bool
	}{
		{"lsof", nil, true},
		{"lsof", []string{"-i"}, true},
		{"ss", []string{"-tln"}, false},
		{"ss", []string{"-tlnp"}, true},
		{"ss", []string{"--processes"}, true},
		{"ss", []string{"--proc"}, true},
		{"ss", []string{"-t", "sport", "=", ":80"}, false},
		{"hostname", nil, false},
		{"hostname", []string{"-f"}, true},
		{"hostname", []string{"--fqdn"}, true},
		{"id", []string{"-u"}, false},
		{"id", []string{"root"}, true},
		{"id", []string{""}, true},
		{"find", []string{"/", "-writable"}, true},
		{"find", []string{"/", "-name", "x"}, false},
		{"openssl", []string{"version"}, false},
		{"openssl", []string{"s_client"}, true},
		{"cat", []string{"/etc/hosts"}, false},
		{"dpkg", []string{"--info", "x.deb"}, true},
		{"dpkg", []string{"-l"}, false},
		{"nothing", nil, false},
	} {
		assert.Equal(t, c.unfit, held.Unfit(c.name, c.args) != "", "%s %q", c.name, c.args)
	}
	for command, sockets := range map[string]int{"systemctl status": 3, "systemctl --user status": 2, "systemctl -H web status": 0, "systemctl --host=web status": 0,
		"docker ps": 3, "docker --context x ps": 0, "journalctl -u x": 3, "journalctl -M x": 0, "lsof": 0, "cat /etc/hosts": 0} {
		words := strings.Fields(command)
		assert.Len(t, held.Sockets(words[0], words[1:]), sockets, command)
	}
	for source, unfit := range map[string]bool{
		"readlink /proc/1/exe": true, "ls -l /proc/$pid/fd": true, "cat /proc/*/environ": true, "cat /proc/1/status": false, "cat /proc/self/maps": false,
		"cat /proc/meminfo": false, "ls /proc/[0-9]*/cwd": true, "ls -l /proc/$(pgrep -o nginx)/fd": true, "cat /proc/$(pgrep -o nginx)/limits": false, "cat /proc/sys/fs/file-nr": false,
	} {
		assert.Equal(t, unfit, held.UnfitSource(source) != "", source)
	}
}

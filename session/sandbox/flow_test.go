package sandbox_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sandbox"
)

// Where a command begins depends on all that may run before it, and on nothing else.
func TestACommandBeginsWhereThatBeforeItMayHaveGone(t *testing.T) {
	dir := tree(t)
	g := guard(t, dir, policy.AllowAll)
	for command, want := range map[string]policy.Verdict{
		// Both ends of a pipe run at the same time: one takes away what the other's path leads through.
		"cat sub/../a.txt | cat": policy.Allow, "cat sub/../a.txt | rm b.txt": policy.Ask, "rm b.txt | cat sub/../a.txt": policy.Ask,
		"cat a.txt | rm b.txt": policy.Allow,
		// What find writes to is a file like any other, and it is not looked at which.
		"find . -name x": policy.Allow, "find . -fprint x": policy.Ask, "find . -fprint0 x": policy.Ask, "find . -fls x": policy.Ask, "find . -fprintf x %p": policy.Ask,
	} {
		for _, shell := range []string{"bash", "dash"} {
			d := decide(t, g, request(dir+"/box", shell, command))
			assert.Equal(t, want, d.Verdict, "%s: %s: %s: %s", shell, command, d.Rule, d.Reason)
		}
	}
}

func TestAGuardNeedsBothAPolicyAndAResolver(t *testing.T) {
	s := box("/box")
	for name, cfg := range map[string]sandbox.GuardConfig{
		"no policy": {Sandbox: s, Level: sandbox.LevelChecked, Resolver: sandbox.Local{}}, "no resolver": {Sandbox: s, Level: sandbox.LevelChecked, Inner: policy.AllowAll},
	} {
		_, err := sandbox.NewGuard(cfg)
		assert.ErrorContains(t, err, "a guard needs a policy and a resolver", name)
	}
}

// Whoever is asked hears first what the command itself leaves open, and not what an earlier one has set.
func TestTheReasonIsTheCommandsOwn(t *testing.T) {
	dir := tree(t)
	g := guard(t, dir, policy.AllowAll)
	req := request(dir+"/box", "bash", "cat $x")
	own := decide(t, g, req)
	req.Set = []string{"cat", "x"}
	both := decide(t, g, req)
	assert.Equal(t, own.Reason, both.Reason)
	assert.NotContains(t, both.Reason, "rests on")
	req.Command = "cat a.txt"
	assert.Contains(t, decide(t, g, req).Reason, "rests on cat")
}

// What a host names twice, or below a directory that it names, is hidden once.
func TestWhatIsHiddenIsHiddenOnce(t *testing.T) {
	got := sandbox.SortedSecrets(sandbox.Secrets{
		Dirs: []string{"/h/.ssh", "/h/.aws", "/h/.ssh/old", "/h/.aws"}, Files: []string{"/h/.netrc", "/h/.bashrc", "/h/.netrc", "/h/.aws/credentials"},
	})
	assert.Equal(t, sandbox.Secrets{Dirs: []string{"/h/.aws", "/h/.ssh"}, Files: []string{"/h/.bashrc", "/h/.netrc"}}, got)
}

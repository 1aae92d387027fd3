package judge_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

// A command with a directory and variables of its own is judged as what it runs, there.
func TestACommandWithADirectoryIsJudgedAsWhatItRuns(t *testing.T) {
	const usr, etc = "/usr/share", "/etc"
	for _, tt := range []struct {
		dir, script string
		want        policy.Class
	}{
		{usr, "ls -l", policy.ReadOnly}, {usr, "grep -rn 'it''s' . | head -5", policy.ReadOnly}, {usr, "git log --oneline -5; git status --short", policy.ReadOnly},
		{usr, "for f in *.log; do wc -l \"$f\"; done", policy.ReadOnly}, {usr, "echo 'a'\npwd", policy.ReadOnly}, {usr, "-x", policy.Unknown},
		{usr, "rm -rf build", policy.Dangerous}, {usr, "touch x", policy.Write}, {usr, "./deploy", policy.Unknown}, {usr, "cat ../../etc/shadow", policy.SensitiveRead},
		{etc, "cat shadow", policy.SensitiveRead}, {etc, "cat ../etc/shadow", policy.SensitiveRead}, {etc, "cd /srv; cat ../etc/shadow", policy.SensitiveRead},
		{etc, "eval \"$X\"", policy.Unknown}, {etc, "eval 'ls'; cat x", policy.Unknown}, {etc, "x=$(", policy.Unknown}, {etc, "ls; PATH=/tmp", policy.Unknown},
	} {
		text, err := session.Command{Script: tt.script, Dir: tt.dir, Env: []string{"LANG=C"}}.Text()
		require.NoError(t, err)
		for _, shell := range []string{"bash", "zsh", "dash", "ksh", "mksh", "ash", "sh", ""} {
			r := judge.Judge(judge.Request{Script: text, Shell: shell})
			if tt.want == policy.ReadOnly {
				assert.Equal(t, tt.want, r.Class, "%s in %s: %s: %s", text, shell, r.Rule, r.Reason)
				continue
			}
			assert.NotEqual(t, policy.Allow, agent(r.Class), "%s in %s: %s: %s", text, shell, r.Rule, r.Reason)
		}
		alone := judge.Judge(judge.Request{Script: tt.script, Dir: tt.dir, Shell: "bash"})
		within := judge.Judge(judge.Request{Script: text, Shell: "bash"})
		assert.Equal(t, agent(alone.Class), agent(within.Class), tt.script)
	}
}

// What eval leaves behind counts for what comes after it.
func TestEvalElsewhereAsks(t *testing.T) {
	neverAllowed(t,
		`eval 'ls'`,
		`(eval 'cd /etc'; cat shadow)`,
		`(eval 'cd /etc') && eval 'ls'`,
		`(eval 'cd /etc'; eval 'cat shadow')`,
		`(cd /usr && eval 'cat ../etc/shadow')`,
		`(eval 'f() { rm -rf x; }'; f)`,
		`(eval 'ls' > x)`,
		`(eval "$x")`,
		`(eval "ls $x")`,
		`(eval 'ls' 'x')`,
		`(eval -- 'rm x')`,
		`(eval 'rm x')`,
		`(eval 'alias ls="rm -rf x"'; ls)`,
		`(eval 'n=--vacuum-time=1s'; journalctl $n)`,
		`n=5; (eval 'n=--vacuum-time=1s; journalctl $n')`,
		`(eval 'ls' &)`,
		`(eval 'ls
		rm x')`,
		`{ eval 'cd /etc'; }`,
		`x() (eval 'ls'); ls() { rm x; }; x`,
		`(! eval 'rm x')`,
		`(time eval 'rm x')`,
		`(while eval 'ls'; do rm x; done)`,
	)
}

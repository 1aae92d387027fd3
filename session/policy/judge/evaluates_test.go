package judge_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

// zsh and the Korn shells evaluate what these builtins take for a number, substitutions in subscripts included.
func TestBuiltinsThatEvaluateNumbers(t *testing.T) {
	for _, src := range []string{
		"for x in 1; do break 'x[$(touch y)]'; done", "for x in 1; do continue 'x[$(touch y)]'; done", "(exit 'x[$(touch y)]')", "return 'x[$(touch y)]'", "(return x)",
		"for x in 1; do break \"$y\"; done", "for x in 1; do break $y; done", "[ -t 'x[$(touch y)]' ]", "test -t x", "test ! -t \"$x\"", "[[ -t 'x[$(touch y)]' ]]", "[ -n a -a -t 'x[1]' ]",
	} {
		for _, shell := range []string{"", "zsh", "ksh", "mksh"} {
			rep := judge.Judge(judge.Request{Script: src, Shell: shell})
			assert.NotEqual(t, policy.ReadOnly, rep.Class, "%q on %q", src, shell)
		}
	}
	for _, src := range []string{
		"for x in 1; do break; done", "for x in 1; do continue 2; done", "(exit 1)", "(exit $?)", "ls || (exit 3)", "[ -t 1 ] && ls", "test -t 0", "[[ -t 1 ]] && ls", "[ -f -t ]", "[ a = -t ]",
	} {
		for _, shell := range []string{"bash", "zsh", "ksh", "mksh", "dash"} {
			if shell == "dash" && src[:2] == "[[" {
				continue
			}
			rep := judge.Judge(judge.Request{Script: src, Shell: shell})
			assert.Equal(t, policy.ReadOnly, rep.Class, "%q on %q: %s", src, shell, rep.Reason)
		}
	}
}

// mksh knows no {1..3}: it takes it for a name.
func TestRangesInShellsWithoutThem(t *testing.T) {
	for _, shell := range []string{"mksh", "ksh"} {
		assert.Equal(t, policy.Unknown, judge.Judge(judge.Request{Script: "cat f{1..3}", Shell: shell}).Class)
	}
	for _, shell := range []string{"bash", "zsh"} {
		assert.Equal(t, policy.ReadOnly, judge.Judge(judge.Request{Script: "cat f{1..3}", Shell: shell}).Class)
	}
	assert.Equal(t, policy.ReadOnly, judge.Judge(judge.Request{Script: "cat f{1,2}", Shell: "mksh"}).Class)
}

package judge_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

// A shell makes all words of a range before it does anything else, and so must not the judge.
func TestLongRangesNeedApproval(t *testing.T) {
	for _, src := range []string{
		"echo {1..1000000000}", "for i in {1..1000000000}; do :; done", "ls {1..99999999}", "echo {1..100000000..1}",
		"echo {-9223372036854775808..9223372036854775807}", "echo {9223372036854775807..9223372036854775800}",
		"echo {1..100}{1..1000}{1..1000}", "ls {{1..5000},{1..5001}}", "echo {a..z}{a..z}{a..z}{a..z}", "cat f{1..10000}{a,b}",
		"for i in {1..10000}{1..10000}{1..10000}{1..10000}{1..10000}{1..10000}; do :; done",
	} {
		for _, shell := range []string{"bash", "zsh"} {
			assert.Equal(t, policy.Unknown, judge.Judge(judge.Request{Script: src, Shell: shell}).Class, "%s on %s", src, shell)
		}
	}
}

func TestShortRangesBesideEachOtherDoNot(t *testing.T) {
	for _, src := range []string{"echo {1..100}{1..100}", "echo {{1..5000},{1..5000}}", "echo {a..z}{a..z}"} {
		for _, shell := range []string{"bash", "zsh"} {
			assert.Equal(t, policy.ReadOnly, judge.Judge(judge.Request{Script: src, Shell: shell}).Class, "%s on %s", src, shell)
		}
	}
}

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
	} {
		for _, shell := range []string{"bash", "zsh"} {
			assert.Equal(t, policy.Unknown, judge.Judge(judge.Request{Script: src, Shell: shell}).Class, "%s on %s", src, shell)
		}
	}
}

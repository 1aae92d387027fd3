package judge_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

// The own home is the root of all that an account has: also where only its owner or its mode is changed, and where what follows
// may be nothing.
func TestTheOwnHomeIsForbiddenLikeTheRoot(t *testing.T) {
	for _, src := range []string{"rm -rf ~", "rm -rf ~/", "rm -rf ~$(true)", "rm -rf ~`true`", "chown -R nobody ~", "chgrp -R nobody ~", "chmod -R 700 ~", "chmod -R 777 ~"} {
		r := judge.Judge(judge.Request{Script: src, Shell: "bash", Dir: "/srv"})
		assert.Equal(t, policy.Forbidden, r.Class, "%s: %s", src, r.Rule)
	}
}

// A command whose words are all gone once they are expanded hides what runs, as one whose word is a variable does.
func TestACommandOfNothingHidesWhatRuns(t *testing.T) {
	for _, src := range []string{"{,}", "x=$(true); $x", "$(true)", "$@", "env $@", "command {,}", "\"$@\"", "nice $x"} {
		r := judge.Judge(judge.Request{Script: src, Shell: "bash", Dir: "/srv"})
		assert.Equal(t, policy.Unknown, r.Class, "%s: %s", src, r.Rule)
		assert.True(t, r.Hidden, src)
	}
}

// Arithmetic with what is always a number reads; with what is made of one by modifiers, it evaluates a text.
func TestOnlyPlainCountersAreAlwaysNumbers(t *testing.T) {
	for src, want := range map[string]policy.Class{
		"echo $(( $? + $# ))": policy.ReadOnly, "echo $(( ${?} ))": policy.ReadOnly, "echo $(( ${?:h} ))": policy.Unknown, "echo $(( ${?:h:t} ))": policy.Unknown,
	} {
		r := judge.Judge(judge.Request{Script: src, Shell: "zsh", Dir: "/srv"})
		assert.Equal(t, want, r.Class, "%s: %s", src, r.Rule)
	}
}

// What a script makes of its variables has a limit: each of these is twice as long as the one before. What is beyond it asks.
func TestALongValueIsNotRemembered(t *testing.T) {
	long := "a=" + strings.Repeat("/.", 1000)
	for src, want := range map[string]string{
		long + "; rm -rf $a": "forbidden/catastrophic-delete", long + "; b=$a$a; rm -rf $b": "forbidden/catastrophic-delete",
		long + "; b=$a$a; c=$b$b; rm -rf $c": "programs/rm", long + "; b=$a$a; c=$b$b; d=$c$c; rm -rf $d": "programs/rm",
	} {
		r := judge.Judge(judge.Request{Script: src, Shell: "bash", Dir: "/srv"})
		assert.Equal(t, want, r.Rule, src[2000:])
	}
}

package redact_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/redact"
)

// However many principals there are, what they teach has a bound, and what one has typed stays known.
func TestAnyNumberOfPrincipalsTeachesSoMuch(t *testing.T) {
	const each, owners = 8, 60
	for name, learn := range map[string]func(redact.Owner, []byte) bool{
		"learned": func(o redact.Owner, v []byte) bool { return o.Learn("token", v) },
		"typed":   redact.Owner.LearnTyped,
	} {
		t.Run(name, func(t *testing.T) {
			s := redact.New(redact.Config{MaxLearned: each, MaxLearnedBytes: 1 << 10})
			first := s.Owner("operator/ada")
			assert.True(t, first.LearnTyped([]byte("correct-horse-battery")))
			for i := range owners {
				o := s.Owner(fmt.Sprint("agent/", i))
				for n := range 2 * each {
					learn(o, fmt.Appendf(nil, "value-%d-%d-of-many", i, n))
				}
			}
			assert.LessOrEqual(t, s.Len(), 4*each+1)
			assert.Greater(t, s.Len(), each)
			assert.LessOrEqual(t, redact.Owners(s), 4*each+1, "owners of nothing are forgotten")
			text, n := s.String("it is correct-horse-battery", redact.Guarded)
			assert.NotContains(t, text, "correct-horse-battery")
			assert.NotEmpty(t, n)
			last := s.Owner("operator/eve")
			assert.True(t, first.LearnTyped([]byte("another-horse-battery")), "it makes room of its own")
			if name == "learned" {
				assert.True(t, last.Learn("token", []byte("the-newest-of-all")))
				text, _ := s.String("it is the-newest-of-all", redact.Guarded)
				assert.NotContains(t, text, "the-newest-of-all")
			} else {
				assert.False(t, last.LearnTyped([]byte("the-newest-of-all")), "nobody forgets a password for it")
			}
		})
	}
}

// A principal that teaches little keeps it beside others that teach much.
func TestThePrincipalThatTeachesMostForgetsFirst(t *testing.T) {
	s := redact.New(redact.Config{MaxLearned: 8, MaxLearnedBytes: 1 << 10})
	assert.True(t, s.Owner("agent/small").Learn("token", []byte("the-only-one-of-mine")))
	for i := range 20 {
		for n := range 8 {
			s.Owner(fmt.Sprint("agent/large", i%5)).Learn("token", fmt.Appendf(nil, "value-%d-%d-of-many", i, n))
		}
	}
	text, _ := s.String("it is the-only-one-of-mine", redact.Guarded)
	assert.NotContains(t, text, "the-only-one-of-mine")
}

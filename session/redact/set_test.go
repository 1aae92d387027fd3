package redact_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/redact"
)

func TestSecretsOfTheWrongLengthAreRefusedWithoutShowingThem(t *testing.T) {
	s := redact.New(redact.Config{})
	err := s.Add("pin", []byte("123\n"))
	require.ErrorIs(t, err, redact.ErrTooShort)
	assert.NotContains(t, err.Error(), "123")
	assert.ErrorIs(t, s.AddOwn("key", bytes.Repeat([]byte("ab"), redact.MaxSecret)), redact.ErrTooLong)
	assert.False(t, s.Learn("x", []byte("1234567\n")))
	assert.False(t, s.Learn("x", []byte("«redacted:password:0123abcd»")))
	require.NoError(t, s.Add("pin", []byte("1234\n")))
	assert.Equal(t, 1, s.Len())
}

func TestALearnedSecretIsHiddenFromTheNextWriteOn(t *testing.T) {
	s := redact.New(redact.Config{})
	l := liveWriter(t, s)
	assert.Equal(t, "correcthorse correct", l.says("correcthorse correct"))
	require.True(t, s.Learn("password", []byte("correcthorse")))
	assert.Equal(t, "correcthorse correcthorse «password»\n", l.says("horse correcthorse\n"))
}

func TestTheOldestLearnedValueIsForgottenFirst(t *testing.T) {
	s := redact.New(redact.Config{MaxLearned: 2})
	require.NoError(t, s.Add("given", []byte("given-secret")))
	for i := range 4 {
		require.True(t, s.Learn("x", fmt.Appendf(nil, "learned-%d", i)))
	}
	got, _ := s.String("given-secret learned-0 learned-1 learned-2 learned-3", redact.Guarded)
	assert.Equal(t, "«given» learned-0 learned-1 «x» «x»", mark.ReplaceAllString(got, "«$1»"))
	assert.False(t, redact.New(redact.Config{MaxLearned: -1}).Learn("x", []byte("learned-0")))
}

func TestAnOwnSecretStaysOwnHoweverOftenItComes(t *testing.T) {
	s := redact.New(redact.Config{MaxLearned: 1})
	require.True(t, s.Learn("learned", []byte("correct horse")))
	require.NoError(t, s.AddOwn("sudo", []byte("correct horse")))
	require.NoError(t, s.Add("other", []byte("correct horse")))
	require.True(t, s.Learn("learned", []byte("correct horse")))
	require.True(t, s.Learn("learned", []byte("another one")))
	assert.Equal(t, 2, s.Len())
	got, _ := s.String("correct horse, another one", redact.Everybody)
	assert.Equal(t, "«sudo», another one", mark.ReplaceAllString(got, "«$1»"))
}

func TestOverlappingSecretsLeaveNothingBetween(t *testing.T) {
	s := knownSet(t)
	for text, want := range map[string]string{
		"<abcdabxyz>":                        "<«short»>",
		"<abcdabcdabx>":                      "<abcd«short»>",
		"<" + strings.Repeat("a", 100) + ">": "<«learned»>",
	} {
		got, _ := s.String(text, redact.Guarded)
		assert.Equal(t, want, mark.ReplaceAllString(got, "«$1»"))
	}
}

func TestASetMayBeUsedByMany(t *testing.T) {
	s := knownSet(t)
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			var out bytes.Buffer
			w := s.Writer(&out, redact.Guarded)
			for i := range 20 {
				s.Learn("x", fmt.Appendf(nil, "learned-%d-%d", g, i))
				fmt.Fprintf(w, "learned-%d-%d\n%s\n", g, i, known)
				assert.NoError(t, w.Flush())
				_ = w.Counts()
			}
			assert.NoError(t, w.Close())
			assert.NotContains(t, out.String(), "learned-")
			assert.NotContains(t, out.String(), known)
		})
	}
	wg.Wait()
}

func TestCountsAdd(t *testing.T) {
	var c redact.Counts
	c.Add(redact.Counts{})
	assert.Zero(t, c)
	c.Add(redact.Counts{Kinds: map[string]int{"a": 1, "b": 2}, Bytes: 3})
	c.Add(redact.Counts{Kinds: map[string]int{"b": 2}, Bytes: 4})
	assert.Equal(t, redact.Counts{Kinds: map[string]int{"a": 1, "b": 4}, Bytes: 7}, c)
	assert.Equal(t, 5, c.Total())
}

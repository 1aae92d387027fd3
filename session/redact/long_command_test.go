package redact_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/redact"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// A command may be a file of 16 MiB. What it gives away is found wherever it stands, also across the pieces in which it is read.
func TestALongCommandTeachesWhatAShortOneDoes(t *testing.T) {
	secret := noise(1, 24)
	for _, c := range []string{"API_TOKEN=" + secret, "app --token '" + secret + "'", "app --token=" + secret, "curl https://ada:" + secret + "@web-1/x"} {
		for _, at := range []int{0, 64<<10 - len(c) - 1, 64<<10 - len(c)/2, 64<<10 - 1, 64 << 10, 3 << 20} {
			s := redact.New(redact.Config{})
			s.LearnFromCommand(strings.Repeat("x", max(0, at-1)) + "\n" + c + "\n" + strings.Repeat("y ", 40<<10))
			assert.NotContains(t, guarded(s, "it is "+secret+"."), secret, "%s, at %d", c, at)
		}
	}
}

// Of a quoted word without end no more than its beginning is held; the rest of a secret that long stays hidden all the same.
func TestAWordWithoutEndIsHeldInPart(t *testing.T) {
	s, long := redact.New(redact.Config{}), strings.Repeat(noise(2, 63)+" ", 3<<20/64)
	s.LearnFromCommand("API_TOKEN='" + long)
	got := guarded(s, "a "+long+"b")
	assert.Less(t, len(got), 200)
	assert.NotContains(t, got, noise(2, 63))
}

// Of a command that is as long as a file no second copy is made.
func TestALongCommandIsHeldOnce(t *testing.T) {
	for name, text := range map[string]string{
		"lines": strings.Repeat("0123456789abcde\n", 1<<20), "a word": strings.Repeat("0123456789abcdef", 1<<20),
		"a quoted word": "'" + strings.Repeat("0123456789abcde ", 1<<20),
	} {
		s := redact.New(redact.Config{})
		s.LearnFromCommand("true") // the rules are made once
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		s.LearnFromCommand(text)
		runtime.ReadMemStats(&after)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(26<<20), "%s: all that was ever allocated, piece after piece", name)
	}
}

// Of a command with more secrets than are learned, the last ones are.
func TestOfManySecretsInACommandTheLastOnesAreLearned(t *testing.T) {
	var all strings.Builder
	first := 10_000
	if needs.Detector { // there is one goroutine
		first = 47_000
	}
	for i := first; i < 50_000; i++ {
		fmt.Fprintf(&all, "+A_TOKEN=%d-correct\n", i)
		fmt.Fprintln(&all, "+A_TOKEN=always-the-same-one")
	}
	s := redact.New(redact.Config{MaxLearned: 100})
	s.LearnFromCommand(all.String())
	for _, secret := range []string{"49999-correct", "49990-correct", "always-the-same-one"} {
		assert.NotContains(t, guarded(s, "it is "+secret), secret)
	}
	oldest := fmt.Sprintf("%d-correct", first)
	assert.Contains(t, guarded(s, "it is "+oldest), oldest, "there is a limit")
	assert.LessOrEqual(t, s.Len(), 100)
}

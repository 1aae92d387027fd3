package redact_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/redact"
)

// A colour ends in a letter, and is still no part of the word that it colours.
func TestWhatIsColouredIsStillFound(t *testing.T) {
	s := redact.New(redact.Config{Key: key})
	for _, colour := range []string{"\x1b[31m", "\x1b[01;31m\x1b[K", "\x1b[m"} {
		for _, text := range []string{"ghp_{36}", "AKIA{upper:16}", "password=hunter2"} {
			whole := "x" + colour + expand(text) + "\x1b[m y"
			got, counts := s.String(whole, redact.Guarded)
			assert.Equal(t, 1, counts.Total(), "%q", got)
			for i := range whole {
				cut, _ := inPieces(t, s, redact.Guarded, whole[:i], whole[i:])
				assert.Equal(t, got, cut)
			}
		}
	}
	for _, text := range []string{"xm" + expand("AKIA{upper:16}"), "x[31m" + expand("AKIA{upper:16}")} {
		_, counts := s.String(text, redact.Guarded)
		assert.Zero(t, counts.Total(), "a word: %q", text)
	}
}

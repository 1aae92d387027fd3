package redact_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/redact"
)

// What is clean stays as it is, in a text and at its edges.
func TestCleaningTwiceIsCleaningOnce(t *testing.T) {
	s := redact.New(redact.Config{})
	s.Learn("password", []byte("open-sesame-42"))
	for _, text := range []string{"for correct-horse9", "password=hunter22x", "for open-sesame-42", "/srv/open-sesame-42", "no open-sesame-42", "token: ghp_abcdefghijklmnopqrstuvwxyz0123456789"} {
		with := s.With("app --password correct-horse9")
		once, _ := with.String(text, redact.Guarded)
		assert.NotEqual(t, text, once)
		assert.NotContains(t, mark.ReplaceAllString(once, ""), "«", once)
		for cut := range len(once) {
			var out strings.Builder
			w := with.Writer(&out, redact.Guarded)
			_, _ = w.Write([]byte(once[:cut]))
			_, _ = w.Write([]byte(once[cut:]))
			assert.NoError(t, w.Close())
			assert.Equal(t, once, out.String())
		}
		twice, _ := with.String(once, redact.Guarded)
		assert.Equal(t, once, twice)
		twice, _ = s.String(once, redact.Guarded)
		assert.Equal(t, once, twice)
	}
}

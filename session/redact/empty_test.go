package redact_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/redact"
)

// A match with nothing in it, beside a colour, is no reason to fail.
func TestColoursBesideEmptyMatches(t *testing.T) {
	s := redact.New(redact.Config{Key: key})
	for _, text := range []string{"Authorization: abcdefghijklmnopqrstu=\x1b[0m\n", "Authorization: abcdefghijklmnopqrstu=\x1b[0m,x\n", "Authorization: abcdefghijklmnopqrstu:\x1b[0m x\n"} {
		assert.NotPanics(t, func() { s.String(text, redact.Guarded) })
	}
}

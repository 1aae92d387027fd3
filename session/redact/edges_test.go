package redact_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/redact"
)

// What stands right before a keyword decides, also where it is the first byte of all.
func TestWhatStandsRightBeforeAKeyword(t *testing.T) {
	for _, c := range [][2]string{
		{"dsn", "x://u:‹s3cret9›@h/d"}, {"dsn", "9://u:‹s3cret9›@h/d"}, {"password", "run -password ‹hunter2›"}, {"token", "-token ‹{20}›"},
	} {
		checkTaken(t, c[0], c[1])
	}
	for _, text := range []string{"(://u:s3cret9@h/d", "://u:s3cret9@h/d", "x+://u:s3cret9@h/d", "the password hunter2", "the token is gone"} {
		got, _ := redact.New(redact.Config{}).String(text, redact.Guarded)
		assert.Equal(t, text, got)
	}
}

package sinks_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit/sinks"
)

// Without a token nothing is sent where one is asked for, neither at the start nor later.
func TestAFileWithoutATokenIsRefused(t *testing.T) {
	a := head(t)
	for name, text := range map[string]string{"nothing": "", "a newline": "\n", "blanks": " \t\r\n", "two lines": "one\ntwo\n", "two words": "one two", "a control": "a\x01b", "DEL": "a\x7fb", "not ASCII": "schlüssel", "a NUL": "a\x00"} {
		file := write(t, 0o600, text, t.TempDir(), "token")
		c := sinks.Config{HTTPS: "https://127.0.0.1:1/x", TokenFile: file}
		_, err := sinks.New(c)
		require.ErrorContains(t, err, "token_file: "+file+" holds no token: one line of printable ASCII", name)

		require.NoError(t, os.WriteFile(file, []byte(" !good-token~ \n"), 0o600))
		p := place(t, c)
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		assert.ErrorContains(t, p.Anchor(t.Context(), a), "holds no token", name)
	}
}

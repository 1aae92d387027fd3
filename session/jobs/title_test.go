package jobs_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
)

func TestAHostKeepsTheBeginningOfACommandWithoutSecrets(t *testing.T) {
	home(t)
	h := on(t, "bash", func(c *session.Config) {
		c.Redact = func(text string) string { return strings.ReplaceAll(text, "hunter2", "«redacted»") }
	})
	for command, title := range map[string]string{
		"true":                              "true",
		"  a=\\\\x\\n;\n\techo 'hunter2'\n": "a=\\\\x\\n; echo '«redacted»'",
		": " + strings.Repeat("ä", 300):     ": " + strings.Repeat("ä", 157) + "…",
	} {
		j := started(t, h, command)
		l := ended(t, h, j.ID)
		assert.Equal(t, title, l.Command)
		all, _, err := h.List(t.Context(), "")
		require.NoError(t, err)
		require.Len(t, all, 1)
		assert.Equal(t, title, all[0].Command)
		_, err = h.Remove(t.Context(), j.ID, "")
		require.NoError(t, err)
	}
}

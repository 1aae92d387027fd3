package jobs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The processes of a job say whose they are in short lines, without words that people give to pkill -f.
func TestTheProcessesOfAJobAreListedShortly(t *testing.T) {
	for _, shell := range shells(t) {
		t.Run(shell, func(t *testing.T) {
			home(t)
			h := on(t, shell)
			j := started(t, h, "env; exec 3<&1; while :; do sleep 1; done")
			// The job's start runs programs such as rm for a moment.
			require.EventuallyWithT(t, func(c *assert.CollectT) { areShort(c, j.ID) }, 20*time.Second, 10*time.Millisecond)
			l, err := h.Stop(t.Context(), j.ID, 0, "")
			require.NoError(t, err)
			assert.Empty(t, l.MayRun)
			out := ended(t, h, j.ID)
			assert.NotContains(t, string(out.Stdout), "fairlead_", "what carried the programs is gone")
			assert.NotContains(t, string(out.Stdout), "fairlead=", "what carried the programs is gone")
			assert.Contains(t, string(out.Stdout), "HOME=")
		})
	}
}

// areShort looks at the lines that name a job.
func areShort(t *assert.CollectT, id string) {
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	require.NoError(t, err)
	ours := 0
	for _, name := range lines {
		text, err := os.ReadFile(name)
		line := strings.ReplaceAll(string(text), "\x00", " ")
		if err != nil || !strings.Contains(line, id) {
			continue
		}
		ours++
		line = strings.ReplaceAll(line, os.Getenv("HOME"), "")
		assert.Contains(t, line, "fairlead")
		assert.Less(t, len(line), 250, line)
		for _, word := range []string{"sleep", "kill", "trap", "perl", "sh -c", "eval", "printf", "read", "while", "test", "fork", "wait", "find", "tail", "rm ", "cat "} {
			assert.NotContains(t, line, word)
		}
	}
	assert.NotZero(t, ours)
}

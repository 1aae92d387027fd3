package keeper_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

func TestAPendingCommandIsWatchedAsPending(t *testing.T) {
	w := keepertest.Start(t)
	agent := w.As("agent/mcp")
	for name, yes := range map[string]bool{"approved": true, "rejected": false} {
		t.Run(name, func(t *testing.T) {
			s, err := agent.Open(t.Context(), wire.Open{Host: "here"})
			require.NoError(t, err)
			r, err := agent.Start(t.Context(), s.ID, wire.Run{Command: "touch " + filepath.Join(t.TempDir(), "x")}, "")
			require.NoError(t, err)
			require.Equal(t, "awaiting_approval", r.State)
			listed := w.Watched()
			require.Len(t, listed, 1)
			assert.Equal(t, "awaiting_approval", listed[0].State)
			c := watch(w, s.ID)
			assert.Equal(t, "awaiting_approval", expect[wire.Watched](c, "session").State)
			assert.Equal(t, "awaiting_approval", expect[wire.WatchCommand](c, "command").State)
			w.AnswerAll(t, yes)
			answered := expect[wire.WatchAnswered](c, "answered")
			assert.Equal(t, r.Exec, answered.Exec)
			_, _, end := c.printed()
			if yes {
				assert.Equal(t, "running", answered.State)
				assert.Equal(t, "ok", end.Status)
			} else {
				assert.Equal(t, "denied", end.Status)
			}
			require.NoError(t, agent.CloseSession(t.Context(), s.ID))
		})
	}
}

package web_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

func TestACommandIsApprovedForItsSessionAtTheWebUI(t *testing.T) {
	t.Parallel()
	v := browse(t)
	w := keepertest.Start(t)
	agent := w.As("agent/claude")
	s, err := agent.Open(t.Context(), wire.Open{Host: "there", CWD: w.Dir})
	require.NoError(t, err)
	v.does("enter", link(w))

	ask := w.Asked(agent, s.ID, "mkdir -p a")
	v.does("lasting", map[string]string{"row": "mkdir -p a", "prefix": "mkdir -p", "begins": "mkdir -p a"})
	_, err = agent.Wait(t.Context(), ask.Exec)
	require.NoError(t, err)
	r := w.RunIn(agent, s.ID, "mkdir -p b")
	assert.Equal(t, "ok", r.Status)
	assert.Equal(t, ask.ID, r.Decision.Approval)
	assert.Equal(t, "commands that begin with: mkdir -p, for 30m0s", r.Decision.ForSession)
	assert.DirExists(t, filepath.Join(w.Dir, "b"))

	ask = w.Asked(agent, s.ID, "echo <b> >>made")
	v.does("lasting", map[string]string{"row": "echo <b>", "begins": "echo <b>"})
	_, err = agent.Wait(t.Context(), ask.Exec)
	require.NoError(t, err)
	assert.Equal(t, ask.ID, w.RunIn(agent, s.ID, "echo <b> >>made").Decision.Approval)
	assert.Len(t, forSessions(w), 2)

	v.does("shoot", "session-approvals")
	v.does("revoke", "mkdir -p")
	assert.True(t, asksFor(w, agent, s.ID, "mkdir -p c"))
	assert.NoDirExists(t, filepath.Join(w.Dir, "c"))
	v.does("revoke", "echo <b>")
	assert.Empty(t, forSessions(w))
	_, err = os.Stat(filepath.Join(w.Dir, "made"))
	require.Error(t, err, "there is no file b to read")
}

package keeper_test

import (
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

func TestWhatIsAskedWaitsAsLongAsTheSettingsSay(t *testing.T) {
	w := keepertest.Start(t, func(c *keeper.Config) { c.ApprovalTimeout = 2 * time.Hour })
	b, _ := w.Box("there")
	_, c := w.Post(wire.NewCommand{Sandbox: b.ID, Command: "touch made"})
	require.Equal(t, "pending", c.Status)
	agent := w.As("agent/claude")
	s, err := agent.Open(t.Context(), wire.Open{Host: "there"})
	require.NoError(t, err)
	_, err = agent.Start(t.Context(), s.ID, wire.Run{Command: "touch made"}, "")
	require.NoError(t, err)
	var all []wire.Approval
	require.Eventually(t, func() bool {
		all, err = w.Approvals(t.Context())
		return err == nil && len(all) == 2
	}, time.Minute, 5*time.Millisecond)
	for _, a := range all {
		assert.InDelta(t, 2*time.Hour, a.Expires.Sub(*a.Asked), float64(time.Hour), "%s", a.Exec)
	}
}

func TestWhatNobodyAnswersInTimeDoesNotRun(t *testing.T) {
	w := keepertest.Start(t, func(c *keeper.Config) { c.ApprovalTimeout = 100 * time.Millisecond })
	b, dir := w.Box("there")
	_, c := w.Post(wire.NewCommand{Sandbox: b.ID, Command: "touch made"})
	var got wire.Command
	require.Eventually(t, func() bool {
		status, _ := w.API("agent/claude", "GET", keepertest.CommandsPath+"/"+c.ID, nil, &got)
		return status == http.StatusOK && got.Status != "pending"
	}, time.Minute, 5*time.Millisecond)
	assert.Equal(t, "rejected", got.Status)
	assert.Equal(t, "expired", got.Outcome)

	agent := w.As("agent/claude")
	s, err := agent.Open(t.Context(), wire.Open{Host: "there", CWD: dir})
	require.NoError(t, err)
	r := w.RunIn(agent, s.ID, "touch made")
	assert.Equal(t, "expired", r.Status)
	require.NotNil(t, r.Error)
	assert.Equal(t, "expired", r.Error.Code)
	assert.Equal(t, "ok", w.RunIn(agent, s.ID, "pwd").Status, "the session goes on")
	assert.NoFileExists(t, filepath.Join(dir, "made"))

	events, err := audit.Tail(filepath.Join(w.Dir, "audit"), 100)
	require.NoError(t, err)
	expired := map[string]bool{}
	for _, e := range events {
		if e.Kind == audit.ApprovalResult {
			expired[e.ID] = e.Status == "expired"
		}
	}
	assert.Equal(t, map[string]bool{c.ID: true, r.Exec: true}, expired)
}

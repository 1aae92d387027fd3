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
	"github.com/fairlead-ssh/fairlead/session/store"
)

// ends waits for the end of a command.
func ends(w *keepertest.World, id string) (got wire.Command) {
	w.T.Helper()
	require.Eventually(w.T, func() bool {
		w.API("agent/claude", "GET", keepertest.CommandsPath+"/"+id, nil, &got)
		return got.Status != "pending" && got.Status != "approved"
	}, time.Minute, 50*time.Millisecond)
	return got
}

// A keeper that was given an answer is gone before it could begin: the request does not stand as approved for ever.
func TestWhatWasApprovedAndNeverBegunEnds(t *testing.T) {
	t.Parallel()
	a, b := twoKeepers(t)
	box, dir := a.Box("there")
	_, c := a.Post(wire.NewCommand{Sandbox: box.ID, Command: "touch made"})
	require.Equal(t, "pending", c.Status)
	asked, err := b.Cfg.Store.Approval(t.Context(), c.ID)
	require.NoError(t, err)
	_, err = b.Cfg.Store.Decide(t.Context(), c.ID, store.Decision{Approve: true, By: "operator/eve", Digest: asked.Digest})
	require.NoError(t, err)
	got := ends(b, c.ID)
	assert.Equal(t, "rejected", got.Status)
	assert.Equal(t, "canceled", got.Outcome)
	assert.NoFileExists(t, filepath.Join(dir, "made"))
}

// The database begins a command only after the keeper has given up waiting for that: nothing was sent, and its record says so.
func TestABeginningThatCameTooLateEnds(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]func(*testing.T) *keepertest.World{
		"postgres": func(t *testing.T) *keepertest.World { a, _ := twoKeepers(t); return a },
		"sqlite": func(t *testing.T) *keepertest.World {
			return keepertest.Start(t, func(c *keeper.Config) { c.SweepEvery(50 * time.Millisecond) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := in(t)
			box, _ := w.Box("here")
			c, made, err := w.Cfg.Store.Create(t.Context(), store.NewCommand{Claim: w.Cfg.ID, Command: store.Command{
				Sandbox: box.ID, Host: "here", Command: "touch made", RequestedBy: "agent/claude", Status: store.Approved, Verdict: "allow",
			}})
			require.NoError(t, err)
			require.True(t, made)
			got := ends(w, c.ID)
			assert.Equal(t, "failed", got.Status)
			assert.Contains(t, got.Reason, "it was not sent")
			require.Eventually(t, func() bool {
				about := keepertest.AboutCommand(t, w.Cfg.AuditDir, c.ID)
				return len(about.Open) == 0 && about.Last[audit.CommandResult].Status == "error"
			}, time.Minute, 50*time.Millisecond)
			status, _ := w.API("", "GET", "/v1/sessions", nil, nil)
			assert.Equal(t, http.StatusOK, status)
		})
	}
}

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
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/store"
)

// ends waits for the end of a command.
func (w *world) ends(id string) (got wire.Command) {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		w.api("agent/claude", "GET", commandsPath+"/"+id, nil, &got)
		return got.Status != "pending" && got.Status != "approved"
	}, time.Minute, 50*time.Millisecond)
	return got
}

// A keeper that was given an answer is gone before it could begin: the request does not stand as approved for ever.
func TestWhatWasApprovedAndNeverBegunEnds(t *testing.T) {
	t.Parallel()
	a, b := twoKeepers(t)
	box, dir := a.box("there")
	_, c := a.post(wire.NewCommand{Sandbox: box.ID, Command: "touch made"})
	require.Equal(t, "pending", c.Status)
	asked, err := b.cfg.Store.Approval(t.Context(), c.ID)
	require.NoError(t, err)
	_, err = b.cfg.Store.Decide(t.Context(), c.ID, store.Decision{Approve: true, By: "operator/eve", Digest: asked.Digest})
	require.NoError(t, err)
	got := b.ends(c.ID)
	assert.Equal(t, "rejected", got.Status)
	assert.Equal(t, "canceled", got.Outcome)
	assert.NoFileExists(t, filepath.Join(dir, "made"))
}

// The database begins a command only after the keeper has given up waiting for that: nothing was sent, and its record says so.
func TestABeginningThatCameTooLateEnds(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]func(*testing.T) *world{
		"postgres": func(t *testing.T) *world { a, _ := twoKeepers(t); return a },
		"sqlite": func(t *testing.T) *world {
			return start(t, func(c *keeper.Config) { c.SweepEvery(50 * time.Millisecond) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := in(t)
			box, _ := w.box("here")
			c, made, err := w.cfg.Store.Create(t.Context(), store.NewCommand{Claim: w.cfg.ID, Command: store.Command{
				Sandbox: box.ID, Host: "here", Command: "touch made", RequestedBy: "agent/claude", Status: store.Approved, Verdict: "allow",
			}})
			require.NoError(t, err)
			require.True(t, made)
			got := w.ends(c.ID)
			assert.Equal(t, "failed", got.Status)
			assert.Contains(t, got.Reason, "it was not sent")
			require.Eventually(t, func() bool {
				about := aboutCommand(t, w.cfg.AuditDir, c.ID)
				return len(about.open) == 0 && about.last[audit.CommandResult].Status == "error"
			}, time.Minute, 50*time.Millisecond)
			status, _ := w.api("", "GET", "/v1/sessions", nil, nil)
			assert.Equal(t, http.StatusOK, status)
		})
	}
}

package keeper_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/store"
	"github.com/fairlead-ssh/fairlead/session/store/storetest"
)

// postgres is started by the first test that needs it.
var postgres storetest.Postgres

// twoKeepers are two of them, each with connections of its own to one Postgres.
func twoKeepers(t *testing.T) (a, b *world) {
	url := postgres.Schema(t)
	one := func(id string) *world {
		return start(t, func(c *keeper.Config) {
			st, err := store.Open(t.Context(), store.Config{URL: url, Key: []byte(strings.Repeat("k", 32))})
			require.NoError(t, err)
			t.Cleanup(func() { st.Close() })
			c.Store, c.ID = st, id
			c.SweepEvery(100 * time.Millisecond)
		})
	}
	return one("k1"), one("k2")
}

func TestTwoKeepersOnOnePostgresNeverBothRunAnApprovedCommand(t *testing.T) {
	t.Parallel()
	a, b := twoKeepers(t)
	box, dir := a.box("there")
	for i := range 4 {
		name := fmt.Sprintf("made%d", i)
		status, c := a.post(wire.NewCommand{Sandbox: box.ID, Command: "echo x >>" + name})
		require.Equal(t, http.StatusAccepted, status)
		var wg sync.WaitGroup
		var answers [2]int
		for n, w := range []*world{a, b} {
			wg.Go(func() {
				status, _ := w.api("", "POST", commandsPath+"/"+c.ID+"/approve", nil, nil)
				answers[n] = status
			})
		}
		wg.Wait()
		assert.Contains(t, answers, http.StatusOK)
		var got wire.Command
		require.Eventually(t, func() bool {
			b.api("", "GET", commandsPath+"/"+c.ID, nil, &got)
			return got.Status == "executed"
		}, time.Minute, 50*time.Millisecond)
		made, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		assert.Equal(t, "x\n", string(made), "it ran once")
	}
}

func TestWhatWaitsInOneKeeperIsAnsweredAtAnother(t *testing.T) {
	a, b := twoKeepers(t)
	box, dir := a.box("there")
	_, c := a.post(wire.NewCommand{Sandbox: box.ID, Command: "touch made"})
	waits := func(w *world, n int) {
		require.Eventually(t, func() bool {
			all, err := w.Approvals(t.Context())
			return err == nil && len(all) == n
		}, time.Minute, 50*time.Millisecond)
	}
	waits(b, 1)
	var got wire.Command
	status, p := b.api("", "POST", commandsPath+"/"+c.ID+"/approve", nil, &got)
	require.Equal(t, http.StatusOK, status, p.Detail)
	assert.Equal(t, "executed", got.Status, got.Reason)
	assert.FileExists(t, filepath.Join(dir, "made"))
	waits(a, 0)
	require.Eventually(t, func() bool {
		about := aboutCommand(t, a.cfg.AuditDir, c.ID)
		return len(about.open) == 0 && about.last[audit.ApprovalResult].ApprovedBy == "operator/ada"
	}, time.Minute, 50*time.Millisecond, "the record of who asked has the answer, too")
	status, _ = a.api("", "POST", commandsPath+"/"+c.ID+"/approve", nil, nil)
	assert.Equal(t, http.StatusConflict, status, "once")

	// A keeper that does not know the host leaves what waits to those that do.
	require.NoError(t, b.stop())
	require.NoError(t, os.WriteFile(b.inventory, []byte("version: 1\nhosts:\n  - {name: elsewhere, transport: local}\n"), 0o600))
	b.serve()
	_, c = a.post(wire.NewCommand{Sandbox: box.ID, Command: "touch more"})
	status, _ = b.api("", "POST", commandsPath+"/"+c.ID+"/approve", nil, nil)
	assert.Equal(t, http.StatusConflict, status)
	status, p = a.api("", "POST", commandsPath+"/"+c.ID+"/approve", nil, &got)
	require.Equal(t, http.StatusOK, status, p.Detail)
	assert.Equal(t, "executed", got.Status, got.Reason)
}

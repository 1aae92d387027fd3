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
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/store"
)

// twoKeepers are two of them, each with connections of its own to one Postgres.
func twoKeepers(t *testing.T) (a, b *keepertest.World) {
	url := keepertest.Postgres.Schema(t)
	one := func(id string) *keepertest.World {
		return keepertest.Start(t, func(c *keeper.Config) {
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
	box, dir := a.Box("there")
	for i := range 4 {
		name := fmt.Sprintf("made%d", i)
		status, c := a.Post(wire.NewCommand{Sandbox: box.ID, Command: "echo x >>" + name})
		require.Equal(t, http.StatusAccepted, status)
		var wg sync.WaitGroup
		var answers [2]int
		for n, w := range []*keepertest.World{a, b} {
			wg.Go(func() {
				status, _ := w.API("", "POST", keepertest.CommandsPath+"/"+c.ID+"/approve", nil, nil)
				answers[n] = status
			})
		}
		wg.Wait()
		assert.Contains(t, answers, http.StatusOK)
		var got wire.Command
		require.Eventually(t, func() bool {
			b.API("", "GET", keepertest.CommandsPath+"/"+c.ID, nil, &got)
			return got.Status == "executed"
		}, time.Minute, 50*time.Millisecond)
		made, err := os.ReadFile(filepath.Join(dir, name))
		require.NoError(t, err)
		assert.Equal(t, "x\n", string(made), "it ran once")
	}
}

func TestWhatWaitsInOneKeeperIsAnsweredAtAnother(t *testing.T) {
	a, b := twoKeepers(t)
	box, dir := a.Box("there")
	_, c := a.Post(wire.NewCommand{Sandbox: box.ID, Command: "touch made"})
	waits := func(w *keepertest.World, n int) {
		require.Eventually(t, func() bool {
			all, err := w.Approvals(t.Context())
			return err == nil && len(all) == n
		}, time.Minute, 50*time.Millisecond)
	}
	waits(b, 1)
	var got wire.Command
	status, p := b.API("", "POST", keepertest.CommandsPath+"/"+c.ID+"/approve", nil, &got)
	require.Equal(t, http.StatusOK, status, p.Detail)
	assert.Equal(t, "executed", got.Status, got.Reason)
	assert.FileExists(t, filepath.Join(dir, "made"))
	waits(a, 0)
	require.Eventually(t, func() bool {
		about := keepertest.AboutCommand(t, a.Cfg.AuditDir, c.ID)
		return len(about.Open) == 0 && about.Last[audit.ApprovalResult].ApprovedBy == "operator/ada"
	}, time.Minute, 50*time.Millisecond, "the record of who asked has the answer, too")
	status, _ = a.API("", "POST", keepertest.CommandsPath+"/"+c.ID+"/approve", nil, nil)
	assert.Equal(t, http.StatusConflict, status, "once")

	// A keeper that does not know the host leaves what waits to those that do.
	require.NoError(t, b.StopServing())
	require.NoError(t, os.WriteFile(b.Inventory, []byte("version: 1\nhosts:\n  - {name: elsewhere, transport: local}\n"), 0o600))
	b.Serve()
	_, c = a.Post(wire.NewCommand{Sandbox: box.ID, Command: "touch more"})
	status, _ = b.API("", "POST", keepertest.CommandsPath+"/"+c.ID+"/approve", nil, nil)
	assert.Equal(t, http.StatusConflict, status)
	status, p = a.API("", "POST", keepertest.CommandsPath+"/"+c.ID+"/approve", nil, &got)
	require.Equal(t, http.StatusOK, status, p.Detail)
	assert.Equal(t, "executed", got.Status, got.Reason)
}

// One account has two keepers with one store where one of its logins has another XDG_RUNTIME_DIR.
func TestASessionOfAnotherKeeperIsNotCalledClosed(t *testing.T) {
	a, b := twoKeepers(t)
	s := a.OpenSession("here", "work")
	for _, name := range []string{"work", s.ID} {
		_, err := b.Client.Session(t.Context(), name)
		var p *wire.Problem
		require.ErrorAs(t, err, &p)
		assert.Equal(t, http.StatusConflict, p.Status)
		assert.Equal(t, wire.CodeElsewhere, p.Code)
		assert.Contains(t, p.Detail, "session "+name+" on here is open in another keeper")
	}
	require.NoError(t, a.CloseSession(t.Context(), s.ID))
	_, err := b.Client.Session(t.Context(), "work")
	require.ErrorContains(t, err, "session work on here is closed: it was asked to")
}

package restart_test

import (
	"io"
	"net/http"
	"os"
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

// A backup of the store from before an answer has the request as pending. The audit log knows that it ran.
func TestARestoredBackupRunsNothingAgain(t *testing.T) {
	dir := keepertest.ChildPlace(t)
	first := keepertest.StartChild(t, dir, "")
	box, made := first.Box("there")
	status, c := first.Post(wire.NewCommand{Sandbox: box.ID, Command: "echo x >>made"})
	require.Equal(t, http.StatusAccepted, status)
	status, other := first.Post(wire.NewCommand{Sandbox: box.ID, Command: "echo y >>other"})
	require.Equal(t, http.StatusAccepted, status)
	first.End()
	path := filepath.Join(dir, "state", "store.db")
	backup, err := os.ReadFile(path)
	require.NoError(t, err)

	second := keepertest.StartChild(t, dir, "")
	status, p := second.API("", "POST", keepertest.CommandsPath+"/"+c.ID+"/approve", nil, nil)
	require.Equal(t, http.StatusOK, status, p.Detail)
	second.End()
	for _, end := range []string{"-wal", "-shm"} {
		_ = os.Remove(path + end) // a clean end leaves none
	}
	require.NoError(t, os.WriteFile(path, backup, 0o600))

	third := keepertest.StartChild(t, dir, "")
	var got wire.Command
	status, _ = third.API("", "GET", keepertest.CommandsPath+"/"+c.ID, nil, &got)
	require.Equal(t, http.StatusOK, status)
	assert.Equal(t, "rejected", got.Status)
	assert.Contains(t, got.Reason, "the audit log says that this request was answered before (approved)")
	status, _ = third.API("", "POST", keepertest.CommandsPath+"/"+c.ID+"/approve", nil, nil)
	assert.Equal(t, http.StatusConflict, status)
	status, _ = third.API("", "GET", keepertest.CommandsPath+"/"+other.ID, nil, &got)
	require.Equal(t, http.StatusOK, status)
	assert.Equal(t, "pending", got.Status, "what was not answered waits on")
	text, err := os.ReadFile(filepath.Join(made, "made"))
	require.NoError(t, err)
	assert.Equal(t, "x\n", string(text), "it ran once")
}

// A keeper that is killed while a command runs leaves a request without a result. The next one writes what the store knows.
func TestTheNextKeeperClosesTheEntriesOfAKilledOne(t *testing.T) {
	dir := keepertest.ChildPlace(t)
	first := keepertest.StartChild(t, dir, "")
	box, made := first.Box("there")
	_, c := first.Post(wire.NewCommand{Sandbox: box.ID, Command: "echo begun >begun; sleep 1000"})
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		resp, err := first.HTTP().Post("http://localhost"+keepertest.CommandsPath+"/"+c.ID+"/approve", "application/json", nil)
		if err == nil {
			resp.Body.Close()
		}
	}()
	require.Eventually(t, func() bool {
		text, _ := os.ReadFile(filepath.Join(made, "begun"))
		return len(text) > 0
	}, 30*time.Second, 10*time.Millisecond)
	first.Kill()
	<-answered
	report, err := audit.Verify(filepath.Join(dir, "audit"))
	require.NoError(t, err)
	require.NotEmpty(t, report.Pending)

	second := keepertest.StartChild(t, dir, "")
	require.Eventually(t, func() bool {
		report, err = audit.Verify(filepath.Join(dir, "audit"))
		return err == nil && report.OK() && len(report.Pending) == 0
	}, 30*time.Second, 20*time.Millisecond)
	last := keepertest.EntriesOf(t, dir, audit.CommandResult)
	assert.Equal(t, "lost", last[len(last)-1].Status)
	second.End()
	before := len(keepertest.EntriesOf(t, dir, audit.CommandResult))
	third := keepertest.StartChild(t, dir, "")
	third.End()
	assert.Len(t, keepertest.EntriesOf(t, dir, audit.CommandResult), before, "once")
	_, _ = io.Copy(io.Discard, third.Lines)
}

// The clock of an earlier keeper was ahead of this one's. Its entries are closed all the same.
func TestEntriesOfAKeeperWhoseClockWasAheadAreClosed(t *testing.T) {
	const id = "c_abcdefghijklm"
	w := keepertest.Start(t, func(c *keeper.Config) {
		box, err := c.Store.CreateSandbox(t.Context(), store.Sandbox{Owner: "agent/claude", Host: "here", Path: "/tmp", Active: true})
		require.NoError(t, err)
		_, made, err := c.Store.Create(t.Context(), store.NewCommand{Claim: "k0", Command: store.Command{
			ID: id, Sandbox: box.ID, Host: "here", Command: "true", RequestedBy: "agent/claude", Status: store.Approved, Verdict: "allow",
		}})
		require.NoError(t, err)
		require.True(t, made)
		_, err = c.Store.Finish(t.Context(), id, "k0", store.End{Status: store.Executed, Outcome: "ok"})
		require.NoError(t, err)
		require.NoError(t, c.Audit.Record(t.Context(), audit.Event{
			Kind: audit.CommandRequest, ID: id, Principal: "agent/claude", Host: "here", Command: "true", Time: time.Now().Add(3 * time.Hour),
		}))
	})
	require.Eventually(t, func() bool { return len(keepertest.AboutCommand(t, w.Cfg.AuditDir, id).Open) == 0 }, time.Minute, 50*time.Millisecond)
}

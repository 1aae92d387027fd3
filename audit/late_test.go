package audit_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
)

// Results of commands that change nothing may come later, but always in order, before anything that changes something,
// and never lost by Close.
func TestResultsThatMayWaitComeInOrderAndBeforeWhatIsWaitedFor(t *testing.T) {
	dir := t.TempDir() + "/audit"
	f, err := audit.Open(dir, audit.Config{})
	require.NoError(t, err)
	look := func(id string) {
		require.NoError(t, f.Record(t.Context(), audit.Event{Kind: audit.CommandRequest, ID: id, ReadOnly: true}))
		require.NoError(t, f.Record(t.Context(), audit.Event{Kind: audit.CommandResult, ID: id, ReadOnly: true}))
	}
	look("e_1")
	look("e_2")
	require.NoError(t, f.Record(t.Context(), audit.Event{Kind: audit.CommandRequest, ID: "e_3"}))
	require.NoError(t, f.Record(t.Context(), audit.Event{Kind: audit.CommandResult, ID: "e_3"}))
	look("e_4")
	require.NoError(t, f.Close())
	seen := map[string]int{}
	for e, err := range audit.All(dir) {
		require.NoError(t, err)
		seen[string(e.Kind)+" "+e.ID] = len(seen)
	}
	require.Len(t, seen, 8)
	for _, id := range []string{"e_1", "e_2", "e_3", "e_4"} {
		assert.Less(t, seen["command.request "+id], seen["command.result "+id], id)
	}
	assert.Less(t, seen["command.result e_1"], seen["command.result e_2"])
	assert.Less(t, seen["command.result e_2"], seen["command.request e_3"])
	assert.Less(t, seen["command.result e_3"], seen["command.result e_4"])
	r, err := audit.Verify(dir)
	require.NoError(t, err)
	assert.Empty(t, r.Pending)
	assert.Error(t, f.Record(t.Context(), audit.Event{Kind: audit.CommandResult, ID: "e_4", ReadOnly: true}))
}

// Where so many results wait that they are written at once, whoever brought them is told that this failed.
func TestTooManyResultsThatMayWaitAreAnErrorWhereNothingCanBeWritten(t *testing.T) {
	dir := newDir(t)
	f := open(t, dir, audit.Config{MaxSize: 1})
	require.NoError(t, f.Record(t.Context(), request("e_1", false)))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "000002.jsonl"), 0o700)) // in the way of the next file
	many := make([]audit.Event, 256)
	for i := range many {
		many[i] = audit.Event{Kind: audit.CommandResult, ID: "e_1", ReadOnly: true}
	}
	assert.ErrorIs(t, audit.RecordAll(t.Context(), f, many), audit.ErrUnavailable)
}

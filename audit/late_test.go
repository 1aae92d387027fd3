package audit_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
)

// Results of commands that change nothing may come later, but always in order and never lost by Close.
func TestResultsThatMayWaitComeWithTheNextRecordOrWithClose(t *testing.T) {
	dir := t.TempDir() + "/audit"
	f, err := audit.Open(dir, audit.Config{})
	require.NoError(t, err)
	for _, id := range []string{"e_1", "e_2", "e_3"} {
		require.NoError(t, f.Record(t.Context(), audit.Event{Kind: audit.CommandRequest, ID: id, ReadOnly: true}))
		require.NoError(t, f.Record(t.Context(), audit.Event{Kind: audit.CommandResult, ID: id, ReadOnly: true}))
	}
	require.NoError(t, f.Close())
	var got []string
	for e, err := range audit.All(dir) {
		require.NoError(t, err)
		got = append(got, string(e.Kind)+" "+e.ID)
	}
	assert.Equal(t, []string{
		"command.request e_1", "command.result e_1", "command.request e_2", "command.result e_2",
		"command.request e_3", "command.result e_3",
	}, got)
	r, err := audit.Verify(dir)
	require.NoError(t, err)
	assert.Empty(t, r.Pending)
	assert.Error(t, f.Record(t.Context(), audit.Event{Kind: audit.CommandResult, ID: "e_3", ReadOnly: true}))
}

package audit_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
)

func TestWritersShareTheChainWhileTheyKeepTheLockForAWhile(t *testing.T) {
	dir := t.TempDir() + "/audit"
	a, err := audit.Open(dir, audit.Config{})
	require.NoError(t, err)
	b, err := audit.Open(dir, audit.Config{})
	require.NoError(t, err)
	for range 50 {
		require.NoError(t, a.Record(t.Context(), audit.Event{Kind: audit.CommandRequest, ReadOnly: true, Exact: []byte("true")}))
		require.NoError(t, a.Record(t.Context(), audit.Event{Kind: audit.CommandRequest, ReadOnly: true, Exact: []byte("true")}))
		require.NoError(t, b.Record(t.Context(), audit.Event{Kind: audit.CommandRequest, Exact: []byte("touch x")}))
	}
	rep, err := audit.Verify(dir) // while a may still hold the lock
	require.NoError(t, err)
	assert.Nil(t, rep.Problem)
	assert.EqualValues(t, 150, rep.Records)
	require.NoError(t, a.Close())
	require.NoError(t, b.Close())
	rep, err = audit.Verify(dir)
	require.NoError(t, err)
	assert.Nil(t, rep.Problem)
	assert.Zero(t, rep.Behind)
}

// A process that is killed within its lease leaves head behind: the records count.
func TestRecordsBehindAHeadThatHadToStayCount(t *testing.T) {
	dir := t.TempDir() + "/audit"
	f, err := audit.Open(dir, audit.Config{})
	require.NoError(t, err)
	require.NoError(t, f.Record(t.Context(), audit.Event{Kind: audit.CommandRequest, Exact: []byte("touch x")}))
	head, err := os.ReadFile(filepath.Join(dir, "head"))
	require.NoError(t, err)
	for range 20 {
		require.NoError(t, f.Record(t.Context(), audit.Event{Kind: audit.CommandRequest, ReadOnly: true, Exact: []byte("true")}))
	}
	require.NoError(t, f.Close())
	require.NoError(t, os.WriteFile(filepath.Join(dir, "head"), head, 0o600))
	rep, err := audit.Verify(dir)
	require.NoError(t, err)
	assert.Nil(t, rep.Problem)
	assert.EqualValues(t, 21, rep.Records)
	assert.EqualValues(t, 20, rep.Behind)
	f, err = audit.Open(dir, audit.Config{})
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

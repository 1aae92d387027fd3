package store_test

import (
	"database/sql"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/store"
)

// Connections that only read are opened on a full disk, too: a setting that is written each time would fail there.
func TestWhatOpensAFileAndReadsItWritesNothing(t *testing.T) {
	cfg := inSQLite(t)
	s := open(t, cfg)
	c := begun(t, s, keeperID)
	db, err := sql.Open("sqlite", cfg.Path)
	require.NoError(t, err)
	defer db.Close()
	watcher, err := db.Conn(t.Context())
	require.NoError(t, err)
	defer watcher.Close()
	version := func() (n int) { // another one after each commit of another connection
		require.NoError(t, watcher.QueryRowContext(t.Context(), `PRAGMA data_version`).Scan(&n))
		return n
	}
	before := version()
	other, err := store.Open(t.Context(), cfg)
	require.NoError(t, err)
	defer other.Close()
	_, err = other.Command(t.Context(), c.ID)
	require.NoError(t, err)
	assert.Equal(t, before, version())
	_, err = s.Finish(t.Context(), c.ID, keeperID, store.End{Status: store.Executed, Outcome: "ok"})
	require.NoError(t, err)
	assert.NotEqual(t, before, version(), "a commit is seen")
}

package knownhosts_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
)

func TestAFileThatGrowsWithoutANewTimeIsNoticed(t *testing.T) {
	k := testKeys()
	f := file(t, "web "+line(k.ed.PublicKey()))
	old := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(f, old, old))
	db, err := knownhosts.Open(f)
	require.NoError(t, err)
	require.NoError(t, knownhosts.Append(f, "db", k.ed.PublicKey(), knownhosts.AppendOptions{}))
	require.NoError(t, os.Chtimes(f, old, old))
	assert.True(t, db.Stale())
}

// Only files that had just changed when they were read are read again: the others cost a stat each.
func TestAnOldFileIsNotReadAgain(t *testing.T) {
	k := testKeys()
	f := file(t, "web "+line(k.ed.PublicKey()))
	old := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(f, old, old))
	db, err := knownhosts.Open(f)
	require.NoError(t, err)
	w, err := os.OpenFile(f, os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = w.WriteAt([]byte("W"), 0)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, os.Chtimes(f, old, old))
	assert.False(t, db.Stale())
}

func TestAMissingFileIsStaleOnceSomethingIsThere(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "known_hosts")
	db, err := knownhosts.Open(name)
	require.NoError(t, err)
	require.False(t, db.Stale())
	require.NoError(t, os.Symlink(name, name))
	assert.True(t, db.Stale())
	_, err = db.Reload()
	assert.ErrorContains(t, err, "too many levels of symbolic links")
}

func TestAReloadedDBKeepsItsClock(t *testing.T) {
	k := testKeys()
	end := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	cert := certificate(t, k.ec, k.ca, until(end), "web")
	f := file(t, "@cert-authority web "+line(k.ca.PublicKey()))
	db, err := knownhosts.Open(f)
	require.NoError(t, err)
	db = db.At(end)
	require.NoError(t, knownhosts.Append(f, "db", k.ed.PublicKey(), knownhosts.AppendOptions{}))
	fresh, err := db.Reload()
	require.NoError(t, err)
	require.NotSame(t, db, fresh)
	assert.ErrorContains(t, fresh.Check(knownhosts.Query{Host: "web"}, cert), "it expired")
}

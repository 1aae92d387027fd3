package audit_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
)

// No entries are asked for, so none are returned, wherever the reader has to begin.
func TestTheLastNoneAreNone(t *testing.T) {
	dir := chainOf(t, 3, audit.Config{})
	writeFile(t, []byte("no head"), dir, "head")
	for n, want := range map[int]int{-1: 0, 0: 0, 1: 1} {
		events, err := audit.Tail(dir, n)
		require.ErrorIs(t, err, audit.ErrDamaged)
		assert.Len(t, events, want, n)
	}
}

// A file that ends before the place that head names is read as far as it goes.
func TestTheEndOfAFileThatWasCutIsRead(t *testing.T) {
	dir := chainOf(t, 5, audit.Config{})
	data := readFile(t, dir, "000001.jsonl")
	writeFile(t, data[:len(data)-len(lastLineOf(data))], dir, "000001.jsonl")
	events, err := audit.Tail(dir, 2)
	require.ErrorIs(t, err, audit.ErrDamaged)
	assert.Equal(t, []string{"e_2", "e_3"}, ids(events))
}

// The end of the chain is read from its end: a first file that cannot be read does not hide it, a last one does.
func TestAFileThatCannotBeReadIsToldByWhatNeedsIt(t *testing.T) {
	for name, put := range map[string]func(path string) error{
		"a directory":   func(path string) error { return os.Mkdir(path, 0o700) },
		"a circle":      func(path string) error { return os.Symlink(path, path) },
		"nothing at it": func(string) error { return nil },
	} {
		dir, _ := aged(t, 3)
		path := filepath.Join(dir, "000001.jsonl")
		require.NoError(t, os.Remove(path))
		require.NoError(t, put(path))
		events, err := audit.Tail(dir, 2)
		require.NoError(t, err, name)
		assert.Equal(t, []string{"e_2_1", "e_2_2"}, ids(events)[len(events)-2:], name)

		path = filepath.Join(dir, "000003.jsonl")
		require.NoError(t, os.Remove(path))
		require.NoError(t, put(path))
		if _, err = audit.Tail(dir, 2); name != "nothing at it" {
			assert.ErrorIs(t, err, audit.ErrUnavailable, name)
		}
	}
}

// The names of the files are looked at before anything is removed by them, however lately they were looked at before.
func TestAPurgeIsRefusedWhereTheDirectoryWasMoved(t *testing.T) {
	dir, last := aged(t, 3)
	f := open(t, dir, audit.Config{})
	require.NoError(t, f.Record(t.Context(), request("e_now", false)))
	moved := dir + ".moved"
	require.NoError(t, os.Rename(dir, moved))
	_, err := f.PurgeRecords(last.AddDate(1, 0, 0), audit.Event{})
	require.ErrorIs(t, err, audit.ErrUnavailable)
	assert.NotContains(t, string(readFile(t, moved, "000003.jsonl")), audit.ChainPurge, "the log says nothing of what was not removed")
	assert.FileExists(t, filepath.Join(moved, "000001.jsonl"))
}

// What is missing at the end is reported as missing.
func TestAChainThatEndsBeforeItsHeadIsNotContinued(t *testing.T) {
	dir := chainOf(t, 3, audit.Config{})
	data := readFile(t, dir, "000001.jsonl")
	for missing := range 2 {
		writeFile(t, data[:len(data)-1-missing], dir, "000001.jsonl")
		_, err := audit.Open(dir, audit.Config{})
		require.ErrorIs(t, err, audit.ErrDamaged)
		assert.ErrorContains(t, err, "it ends before the place that head names")
	}
}

// Without its key a chain cannot be told from what was added to it; without its directory there is none.
func TestAChainWithoutItsKeyOrDirectorySaysWhich(t *testing.T) {
	dir := chainOf(t, 1, audit.Config{})
	require.NoError(t, os.Remove(filepath.Join(dir, "key")))
	var said []string
	for _, err := range audit.All(dir) {
		if err != nil {
			said = append(said, err.Error())
		}
	}
	require.Len(t, said, 1)
	assert.Contains(t, said[0], "the key is missing: without it")
	_, err := audit.Tail(filepath.Join(dir, "none"), 1)
	require.ErrorIs(t, err, audit.ErrUnavailable)
	assert.ErrorContains(t, err, filepath.Join(dir, "none"))
	assert.NotContains(t, err.Error(), "key")
}

// A line begins after the newline before it, also where that is the first byte of what was read.
func TestTheLineBeforeAPlaceIsFoundAtAnyDistance(t *testing.T) {
	for _, before := range []int{0, 1, 2, 4094, 4095, 4096, 4097, 16383, 16384} {
		for _, long := range []int{0, 1, 2, 4094, 4095, 4096, 4097, 16383, 16384} {
			line := strings.Repeat("x", long) + "\n"
			text := strings.Repeat("y", before) + "\n" + line
			got, err := audit.LastLine(strings.NewReader(text), int64(len(text)))
			require.NoError(t, err)
			require.Equal(t, line, string(got), "%d bytes after %d", long, before)
		}
	}
}

// A directory that cannot be opened was not synced.
func TestADirectoryThatIsNotThereIsNotSynced(t *testing.T) {
	require.NoError(t, audit.SyncDir(t.TempDir()))
	require.Error(t, audit.SyncDir(filepath.Join(t.TempDir(), "none")))
}

package audit_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
)

// Another end of the same chain that is put in the place of what a running process has written is noticed: the next entry is
// refused, and so is each after it.
func TestAnotherEndOfTheChainIsNotTakenForOnesOwn(t *testing.T) {
	dir, fork := newDir(t), newDir(t)
	f := open(t, dir, audit.Config{})
	require.NoError(t, f.Record(t.Context(), request("e_1", false)))
	require.NoError(t, os.CopyFS(fork, os.DirFS(dir)))
	require.NoError(t, filepath.WalkDir(fork, func(path string, e os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if e.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return os.Chmod(path, 0o600)
	}))
	require.NoError(t, f.Record(t.Context(), request("e_2", false)))
	g := open(t, fork, audit.Config{})
	require.NoError(t, g.Record(t.Context(), request("e_2_of_another_end", false)))
	require.NoError(t, g.Close())
	for _, name := range []string{"head", "000001.jsonl"} { // the same files, with another content
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), readFile(t, fork, name), 0o600))
	}
	for range 2 {
		err := f.Record(t.Context(), request("e_3", false))
		require.ErrorIs(t, err, audit.ErrUnavailable)
		assert.ErrorContains(t, err, "it names another entry than the one this process wrote last")
	}
	assert.NotContains(t, string(readFile(t, dir, "000001.jsonl")), "e_3")
}

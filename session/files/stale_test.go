package files_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/files"
)

func TestAWriteRemovesWhatACutOneHasLeftLongAgo(t *testing.T) {
	ways(t, func(t *testing.T, h *files.Host, dir string) {
		old := time.Now().Add(-25 * time.Hour)
		for name, when := range map[string]time.Time{
			".fairlead-abcdefghijklmnop":      old,
			".fairlead-2345672345672345":      old,
			".fairlead-youngyoungyoungy":      time.Now().Add(-time.Hour),
			".fairlead-abc":                   old, // not ours: ours have sixteen letters
			".fairlead-abcdefghijklmnopqrst":  old,
			"x.fairlead-abcdefghijklmnop":     old,
			"another file that is not so new": old,
		} {
			path := put(t, dir, name, "left")
			require.NoError(t, os.Chtimes(path, when, when))
		}
		require.NoError(t, os.Symlink("x.fairlead-abcdefghijklmnop", filepath.Join(dir, ".fairlead-linklinklinklink")))
		_, err := h.Write(t.Context(), filepath.Join(dir, "f"), []byte("new"), files.WriteOptions{})
		require.NoError(t, err)
		assert.ElementsMatch(t, []string{
			"f", ".fairlead-youngyoungyoungy", ".fairlead-abc", ".fairlead-abcdefghijklmnopqrst", "x.fairlead-abcdefghijklmnop",
			"another file that is not so new", ".fairlead-linklinklinklink",
		}, names(t, dir))
	})
}

package copies_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/copies"
)

// What a source has and is not copied stays on the host, whatever it is there: the plan names it.
func TestDeleteKeepsWhatTheSourceHasAndIsNotCopied(t *testing.T) {
	ways(t, func(t *testing.T, s *site, dir string) {
		src := filepath.Join(tempDir(t), "src")
		write(t, filepath.Join(src, "app/file"), []byte("file"), 0o644)
		require.NoError(t, os.Symlink("../shared", filepath.Join(src, "app/storage")))
		require.NoError(t, os.Symlink("app", filepath.Join(src, "current")))
		write(t, filepath.Join(dir, "src/app/storage/deep/file"), []byte("kept"), 0o644)
		write(t, filepath.Join(dir, "src/app/extra/file"), []byte("extra"), 0o644)
		write(t, filepath.Join(dir, "src/current"), []byte("kept"), 0o644)
		local, err := copies.NewLocal([]string{src})
		require.NoError(t, err)
		assert.ElementsMatch(t, []string{"src/app/storage", "src/current"}, local.Skipped())
		plan := copies.Plan{Path: dir + "/src", Merge: true, Delete: true, Keep: local.Skipped()}
		res, reports := s.upload(plan, src)
		require.NoError(t, errOf(res))
		var gone []string
		for _, r := range reports {
			if r.Done == copies.Deleted {
				rel, _ := filepath.Rel(dir, r.Path)
				gone = append(gone, rel)
			}
		}
		assert.ElementsMatch(t, []string{"src/app/extra", "src/app/extra/file"}, gone)
		assert.Equal(t, "kept", read(t, filepath.Join(dir, "src/app/storage/deep/file")))
		assert.Equal(t, "kept", read(t, filepath.Join(dir, "src/current")))
	})
}

// Hosts may have one directory between them: what one's copy is writing there is not another one's to remove.
func TestDeleteKeepsWhatAnotherCopyIsWriting(t *testing.T) {
	ways(t, func(t *testing.T, s *site, dir string) {
		src := filepath.Join(tempDir(t), "src")
		write(t, filepath.Join(src, "file"), []byte("file"), 0o644)
		arriving, left, odd := ".fairlead-abcdefghijklmnop", ".fairlead-qrstuvwxyz234567", ".fairlead-ABCDEFGHIJKLMNOP"
		for _, name := range []string{arriving, left, odd} {
			write(t, filepath.Join(dir, "src", name), []byte("part"), 0o600)
		}
		old := time.Now().Add(-25 * time.Hour)
		require.NoError(t, os.Chtimes(filepath.Join(dir, "src", left), old, old))
		for _, dry := range []bool{true, false} {
			res, reports := s.upload(copies.Plan{Path: dir + "/src", Merge: true, Delete: true, DryRun: dry}, src)
			require.NoError(t, errOf(res))
			var removed []string
			for _, r := range reports {
				if r.Done == copies.Deleted || r.Done == copies.Doomed {
					removed = append(removed, filepath.Base(r.Path))
				}
			}
			assert.ElementsMatch(t, []string{odd, left}, removed)
		}
		assert.FileExists(t, filepath.Join(dir, "src", arriving))
	})
}

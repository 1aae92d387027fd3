package copies_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/copies"
	"github.com/fairlead-ssh/fairlead/session/files"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// An sftp server calls it a failure, and no more.
func TestAReadOnlyFileSystemIsNamed(t *testing.T) {
	ways(t, func(t *testing.T, s *site, dir string) {
		src := filepath.Join(tempDir(t), "src")
		write(t, filepath.Join(src, "f"), []byte("new"), 0o644)
		if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "mode=0700,size=64k"); err != nil {
			needs.Part(t, "no file system can be mounted here: %v", err)
		}
		t.Cleanup(func() { assert.NoError(t, syscall.Unmount(dir, 0)) })
		write(t, filepath.Join(dir, "f"), []byte("old"), 0o644)
		write(t, filepath.Join(dir, "src/f"), []byte("new"), 0o644)
		write(t, filepath.Join(dir, "src/more"), []byte("more"), 0o644)
		require.NoError(t, syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
		for name, plan := range map[string]copies.Plan{
			"a file": {Path: dir + "/f"}, "a directory": {Path: dir + "/none"},
		} {
			from := src
			if name == "a file" {
				from = filepath.Join(src, "f")
			}
			res, reports := s.upload(plan, from)
			require.NotNil(t, res.Err, name)
			text := res.Err.Error()
			for _, r := range reports {
				text += " " + r.Why
			}
			assert.Contains(t, text, "the file system is read-only", name)
			if name == "a directory" {
				assert.Equal(t, files.CodePermission, res.Err.Code)
			}
		}
		assert.Equal(t, "old", read(t, filepath.Join(dir, "f")))
		_, _, err := s.download(src, copies.Tree{Dir: dir})
		assert.EqualError(t, err, filepath.Join(dir, "src/f")+": the file system is read-only")
	})
}

package keepertest

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// SmallDisk is a file system of a megabyte.
func SmallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m,mode=0700"); err != nil {
		needs.Part(t, "no tmpfs can be mounted here: %v", err)
	}
	t.Cleanup(func() { assert.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	return dir
}

// Fill leaves no byte on a disk.
func Fill(t *testing.T, disk string) {
	t.Helper()
	f, err := os.Create(filepath.Join(disk, "filler"))
	require.NoError(t, err)
	defer f.Close()
	for size := 4096; size > 0; size /= 2 {
		for {
			if _, err = f.Write(make([]byte, size)); err != nil {
				break
			}
		}
		require.True(t, errors.Is(err, syscall.ENOSPC), "%v", err)
	}
}

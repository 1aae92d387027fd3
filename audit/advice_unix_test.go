//go:build unix

package audit

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The advice of an error helps against its cause: permissions free no space.
func TestAdviceFollowsTheCause(t *testing.T) {
	for cause, want := range map[syscall.Errno]string{
		syscall.ENOSPC: doSpace, syscall.EDQUOT: doSpace, syscall.EROFS: doRemount, syscall.EIO: doDisk, syscall.EACCES: doAccess, syscall.EPERM: doAccess,
	} {
		for _, do := range []string{doAccess, doSpace} {
			err := unavailable("open", "/a", fmt.Errorf("x: %w", &fs.PathError{Op: "open", Path: "/a", Err: cause}), do)
			assert.Equal(t, want, err.(*Error).Do, "%v after %s", cause, do)
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err := Open(filepath.Join(file, "audit"), Config{})
	assert.ErrorContains(t, err, "not a directory; "+doNotDir)
}

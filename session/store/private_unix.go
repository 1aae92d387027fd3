//go:build unix

package store

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// private reports what is wrong with a file or directory that only this account may own and enter. That it does not
// exist is an error too, an fs.ErrNotExist.
func private(path string, dir bool) error {
	st, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	mode, want := st.Mode(), fs.FileMode(0o600)
	if dir {
		want = 0o700
	}
	owner := st.Sys().(*syscall.Stat_t).Uid
	switch {
	case dir && !mode.IsDir():
		return fmt.Errorf("store: %s is not a directory", path)
	case !dir && !mode.IsRegular():
		return fmt.Errorf("store: %s is not a regular file", path)
	case int(owner) != os.Geteuid():
		return fmt.Errorf("store: %s belongs to uid %d, not to this account (%d)", path, owner, os.Geteuid())
	case mode.Perm()&0o077 != 0:
		return fmt.Errorf("store: %s is open to others (mode %04o): chmod %o it, after a look at who has used it", path, mode.Perm(), want)
	}
	return nil
}

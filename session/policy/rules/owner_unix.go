//go:build unix

package rules

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// checkOwner refuses a file that accounts other than root and our own can write, or replace in its directory.
func checkOwner(f *os.File) error {
	fi, err := f.Stat()
	if err != nil {
		return fmt.Errorf("rules: %w", err)
	}
	if !fi.Mode().IsRegular() {
		return fmt.Errorf("rules: %s is not a regular file, so it is not read as policy", f.Name())
	}
	if err := safe(fi, f.Name(), "chmod go-w "+f.Name()); err != nil {
		return err
	}
	// The name may be a link: what counts is the directory that the file is in, and the one that the link is in.
	real, err := filepath.EvalSymlinks(f.Name())
	if err != nil {
		return fmt.Errorf("rules: %w", err)
	}
	for _, dir := range []string{filepath.Dir(f.Name()), filepath.Dir(real)} {
		di, err := os.Stat(dir)
		if err != nil {
			return fmt.Errorf("rules: %w", err)
		}
		if di.Mode()&os.ModeSticky != 0 {
			continue // in /tmp and the like, others cannot replace our files
		}
		if err := safe(di, dir, "chmod go-w "+dir); err != nil {
			return fmt.Errorf("%w; whoever can write there can replace the policy", err)
		}
	}
	return nil
}

func safe(fi os.FileInfo, name, fix string) error {
	if st, ok := fi.Sys().(*syscall.Stat_t); ok && st.Uid != 0 && int(st.Uid) != os.Geteuid() {
		return fmt.Errorf("rules: %s belongs to another account (uid %d), so it is not trusted with policy: it must belong to root or to you", name, st.Uid)
	}
	if mode := fi.Mode().Perm(); mode&0o022 != 0 {
		return fmt.Errorf("rules: %s can be written by others (mode %04o), so it is not trusted with policy: %s", name, mode, fix)
	}
	return nil
}

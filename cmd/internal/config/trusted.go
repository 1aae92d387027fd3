package config

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// trusted refuses a file that accounts other than root and our own can write, or replace in its directory.
func trusted(f *os.File) error {
	fi, err := f.Stat()
	if err != nil {
		return fmt.Errorf("config: %w", err)
	}
	if !fi.Mode().IsRegular() {
		return fmt.Errorf("config: %s is not a regular file", f.Name())
	}
	if err := safe(fi, f.Name()); err != nil {
		return err
	}
	// The name may be a link: what counts is the directory that the file is in, and the one that the link is in.
	real, err := filepath.EvalSymlinks(f.Name())
	if err != nil {
		return fmt.Errorf("config: %w", err)
	}
	for _, dir := range []string{filepath.Dir(f.Name()), filepath.Dir(real)} {
		di, err := os.Stat(dir)
		if err != nil {
			return fmt.Errorf("config: %w", err)
		}
		if di.Mode()&os.ModeSticky != 0 {
			continue // in /tmp and the like, others cannot replace our files
		}
		if err := safe(di, dir); err != nil {
			return fmt.Errorf("%w; whoever can write there can replace the settings", err)
		}
	}
	return nil
}

func safe(fi os.FileInfo, name string) error {
	if uid := int(fi.Sys().(*syscall.Stat_t).Uid); strange(uid, os.Geteuid()) {
		return fmt.Errorf("config: %s belongs to another account (uid %d): it must belong to root or to you", name, uid)
	}
	if mode := fi.Mode().Perm(); mode&0o022 != 0 {
		return fmt.Errorf("config: %s can be written by others (mode %04o): chmod go-w it", name, mode)
	}
	return nil
}

// strange reports whether a file of uid may be changed by an account that me need not trust.
func strange(uid, me int) bool { return uid != 0 && uid != me }

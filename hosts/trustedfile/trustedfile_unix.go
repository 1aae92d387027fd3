//go:build unix

package trustedfile

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// Open opens a file to be read, and refuses what Check does. It does not wait for the other end of a pipe.
func Open(name, what string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if err := Check(f, what); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

// Check refuses a file that accounts other than root and our own can write, or replace in its directory. what is what it
// would be trusted with: "policy".
func Check(f *os.File, what string) error {
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	if !fi.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file, so it is not read as %s", f.Name(), what)
	}
	if err := safe(fi, f.Name(), what); err != nil {
		return err
	}
	// The name may be a link: what counts is the directory that the file is in, and the one that the link is in.
	real, err := filepath.EvalSymlinks(f.Name())
	if err != nil {
		return err
	}
	for _, dir := range []string{filepath.Dir(f.Name()), filepath.Dir(real)} {
		di, err := os.Stat(dir)
		if err != nil {
			return err
		}
		if di.Mode()&os.ModeSticky != 0 {
			continue // in /tmp and the like, others cannot replace our files
		}
		if err := safe(di, dir, what); err != nil {
			return fmt.Errorf("%w; every account that can write there can replace the %s", err, what)
		}
	}
	return nil
}

func safe(fi os.FileInfo, name, what string) error {
	if uid := int(fi.Sys().(*syscall.Stat_t).Uid); strange(uid, os.Geteuid()) {
		return fmt.Errorf("%s belongs to another account (uid %d): it must belong to root or to you to be trusted with %s", name, uid, what)
	}
	if mode := fi.Mode().Perm(); mode&0o022 != 0 {
		return fmt.Errorf("%s can be written by others (mode %04o), so it is not trusted with %s: chmod go-w %s", name, mode, what, name)
	}
	return nil
}

// strange reports whether a file of uid may be changed by an account that me need not trust.
func strange(uid, me int) bool { return uid != 0 && uid != me }

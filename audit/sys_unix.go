//go:build unix

package audit

import (
	"os"
	"syscall"
)

// identity tells one file from another that later has the same name.
type identity struct{ dev, ino uint64 }

func identify(f *os.File) (identity, error) {
	var st syscall.Stat_t
	if err := syscall.Fstat(int(f.Fd()), &st); err != nil {
		return identity{}, os.NewSyscallError("fstat", err)
	}
	return identity{uint64(st.Dev), st.Ino}, nil
}

// same reports whether the file at path is the one identified before.
func same(path string, want identity) (bool, error) {
	var st syscall.Stat_t
	if err := syscall.Stat(path, &st); err != nil {
		return false, os.NewSyscallError("stat", err)
	}
	return identity{uint64(st.Dev), st.Ino} == want, nil
}

// sizeOf says how long f is, and whether a name still leads to it.
func sizeOf(f *os.File) (size int64, linked bool, err error) {
	var st syscall.Stat_t
	if err := syscall.Fstat(int(f.Fd()), &st); err != nil {
		return 0, false, os.NewSyscallError("fstat", err)
	}
	return st.Size, st.Nlink > 0, nil
}

// nonBlock keeps the opening of a named pipe from waiting for its other end. It means nothing for a regular file.
const nonBlock = syscall.O_NONBLOCK

// tryLock takes the lock on f if nobody else has it.
func tryLock(f *os.File, exclusive bool) (bool, error) {
	how := syscall.LOCK_SH
	if exclusive {
		how = syscall.LOCK_EX
	}
	for {
		switch err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB); err {
		case nil:
			return true, nil
		case syscall.EINTR:
		case syscall.EWOULDBLOCK:
			return false, nil
		default:
			return false, os.NewSyscallError("flock", err)
		}
	}
}

func unlock(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }

// syncDir makes names created in dir survive a power cut.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

package audit

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

// identity tells one file from another that later has the same name.
type identity struct{ info os.FileInfo }

func identify(f *os.File) (identity, error) {
	fi, err := f.Stat()
	return identity{fi}, err
}

// same reports whether the file at path is the one identified before.
func same(path string, want identity) (bool, error) {
	fi, err := os.Stat(path)
	return err == nil && os.SameFile(fi, want.info), err
}

// sizeOf says how long f is. Windows does not remove files that are open, so a name always leads to it.
func sizeOf(f *os.File) (size int64, linked bool, err error) {
	fi, err := f.Stat()
	if err != nil {
		return 0, false, err
	}
	return fi.Size(), true, nil
}

// nonBlock is for other systems: no name in a directory leads to a pipe here.
const nonBlock = 0

// Locks are mandatory on Windows, so the byte that is locked lies far behind what is read and written.
const (
	lockAtHigh      = 0x40000000
	failImmediately = 1
	exclusiveLock   = 2
	lockViolation   = syscall.Errno(33)
)

func lockProc(name string) *syscall.LazyProc { return syscall.NewLazyDLL("kernel32.dll").NewProc(name) }

// tryLock takes the lock on f if nobody else has it.
func tryLock(f *os.File, exclusive bool) (bool, error) {
	flags := uintptr(failImmediately)
	if exclusive {
		flags |= exclusiveLock
	}
	at := syscall.Overlapped{OffsetHigh: lockAtHigh}
	ok, _, err := lockProc("LockFileEx").Call(f.Fd(), flags, 0, 1, 0, uintptr(unsafe.Pointer(&at)))
	switch {
	case ok != 0:
		return true, nil
	case errors.Is(err, lockViolation):
		return false, nil
	}
	return false, os.NewSyscallError("LockFileEx", err)
}

func unlock(f *os.File) {
	at := syscall.Overlapped{OffsetHigh: lockAtHigh}
	_, _, _ = lockProc("UnlockFileEx").Call(f.Fd(), 0, 1, 0, uintptr(unsafe.Pointer(&at)))
}

// syncDir has no equivalent on Windows.
func syncDir(string) error { return nil }

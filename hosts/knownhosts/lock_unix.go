//go:build unix && !solaris && !aix

package knownhosts

import (
	"errors"
	"os"
	"syscall"
	"time"
)

const (
	lockWait = 10 * time.Second // appending takes milliseconds; whoever holds the lock longer is stuck
	lockStep = 10 * time.Millisecond
)

// lock gets an exclusive lock, which lasts until f is closed.
func lock(f *os.File) error {
	for end := time.Now().Add(lockWait); ; time.Sleep(lockStep) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case !passing(err):
			return err
		case time.Now().After(end):
			return errors.New("another program holds its lock")
		}
	}
}

// passing reports whether a lock that was refused for err may be had later.
func passing(err error) bool {
	return errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR)
}

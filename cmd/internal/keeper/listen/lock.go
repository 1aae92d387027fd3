package listen

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// ErrRunning is returned by Serve when a keeper answers on the socket already.
var ErrRunning = errors.New("keeper: another one is running")

// servingLock is held as long as a keeper lives.
const servingLock = "keeper.lock"

// lock is an exclusive flock(2). The system gives it back when the process ends, however it ends.
type lock struct{ f *os.File }

// lockEvery is how often a lock that another process holds is tried.
const lockEvery = 10 * time.Millisecond

// takeLock waits for the lock of a file until ctx ends.
func takeLock(ctx context.Context, path string) (*lock, error) {
	for {
		l, err := tryLock(path)
		if l != nil || err != nil {
			return l, err
		}
		select {
		case <-time.After(lockEvery):
		case <-ctx.Done():
			return nil, fmt.Errorf("keeper: another one holds %s and does not let go: %w", path, context.Cause(ctx))
		}
	}
}

// tryLock returns nil where another process has the lock.
func tryLock(path string) (*lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("keeper: cannot open the lock: %w", err)
	}
	switch err := flock(f, unix.LOCK_EX|unix.LOCK_NB); {
	case errors.Is(err, unix.EWOULDBLOCK):
		f.Close()
		return nil, nil
	case err != nil:
		f.Close()
		return nil, fmt.Errorf("keeper: cannot lock %s: %w", path, err)
	}
	return &lock{f}, nil
}

func flock(f *os.File, how int) error {
	for {
		if err := unix.Flock(int(f.Fd()), how); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// release gives the lock back. The file stays: removing it would let two processes hold locks on two files of one name.
func (l *lock) release() {
	if l != nil {
		l.f.Close()
	}
}

// is reports whether the lock is that of the file at a path, as it is now.
func (l *lock) is(path string) bool {
	if l == nil {
		return false
	}
	mine, err := l.f.Stat()
	now, nerr := os.Lstat(path)
	return err == nil && nerr == nil && os.SameFile(mine, now)
}

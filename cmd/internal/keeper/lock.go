package keeper

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// ErrRunning is returned by Serve when a keeper answers on the socket already.
var ErrRunning = errors.New("keeper: another one is running")

// servingLock is held as long as a keeper lives.
const servingLock = "keeper.lock"

// lock is an exclusive flock(2). The system gives it back when the process ends, however it ends.
type lock struct{ f *os.File }

// takeLock waits for the lock of a file until ctx ends. A wait that is given up goes on in a goroutine until the lock is
// free: flock cannot be interrupted, and the process is about to end.
func takeLock(ctx context.Context, path string) (*lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("keeper: cannot open the lock: %w", err)
	}
	err = flock(f, unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		got := make(chan error, 1)
		go func() { got <- flock(f, unix.LOCK_EX) }()
		select {
		case err = <-got:
		case <-ctx.Done():
			go func() { <-got; f.Close() }()
			return nil, fmt.Errorf("keeper: another one holds %s and does not let go: %w", path, context.Cause(ctx))
		}
	}
	if err != nil {
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
func (l *lock) release() { l.f.Close() }

// listen opens the socket for one keeper at a time. It returns ErrRunning where one answers, and waits for one that is
// ending. Two locks see to it: starting is held only as long as it takes to find out and to open the socket, serving as
// long as the keeper lives.
func listen(ctx context.Context, p Places) (l *net.UnixListener, serving *lock, err error) {
	if err := p.makeDir(); err != nil {
		return nil, nil, err
	}
	dir := filepath.Dir(p.Socket)
	starting, err := takeLock(ctx, filepath.Join(dir, "keeper.start.lock"))
	if err != nil {
		return nil, nil, err
	}
	defer starting.release()
	c, err := (&net.Dialer{}).DialContext(ctx, "unix", p.Socket)
	switch {
	case err == nil:
		c.Close()
		return nil, nil, fmt.Errorf("%w: it answers on %s", ErrRunning, p.Socket)
	case !gone(err):
		return nil, nil, fmt.Errorf("keeper: cannot tell whether one is running: %w", err)
	}
	if serving, err = takeLock(ctx, filepath.Join(dir, servingLock)); err != nil {
		return nil, nil, err
	}
	// What is there now was left by a keeper that is dead: we hold its lock.
	if err := os.Remove(p.Socket); err != nil && !errors.Is(err, os.ErrNotExist) {
		serving.release()
		return nil, nil, fmt.Errorf("keeper: cannot remove what a dead one has left: %w", err)
	}
	l, err = net.ListenUnix("unix", &net.UnixAddr{Name: p.Socket, Net: "unix"})
	if err == nil {
		if err = os.Chmod(p.Socket, 0o600); err != nil {
			l.Close()
		}
	}
	if err != nil {
		serving.release()
		return nil, nil, fmt.Errorf("keeper: cannot open the socket: %w", err)
	}
	return l, serving, nil
}

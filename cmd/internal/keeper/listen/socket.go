package listen

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// Socket is the socket of a keeper, with the locks that keep every other keeper away from it.
type Socket struct {
	places  Places
	claimed *lock // of the socket's name, beside the log: a directory of sockets may be removed under a keeper
	serving *lock // of the socket's directory
	*KeptSocket
}

// Claim is the file that a keeper holds locked as long as it lives, for its socket's name.
func (p Places) Claim() string {
	beside := p.Log
	if beside == "" {
		beside = p.Socket
	}
	sum := sha256.Sum256([]byte(p.Socket))
	return filepath.Join(filepath.Dir(beside), "keeper-"+hex.EncodeToString(sum[:6])+".lock")
}

// Note writes into the claim which more files are this keeper's own, known to it alone from its command line: other
// processes keep agents from them too. The list stays when the keeper ends, until the next one writes its own.
func (s *Socket) Note(own []string) error {
	text, err := json.Marshal(own)
	if err != nil {
		return err
	}
	if err := s.claimed.f.Truncate(0); err != nil {
		return err
	}
	_, err = s.claimed.f.WriteAt(text, 0)
	return err
}

// Alone opens the socket for one keeper at a time. It returns ErrRunning where one answers, and waits for one that is
// ending, or that is about to make its socket again.
func Alone(ctx context.Context, p Places) (*Socket, error) {
	if err := p.makeDir(); err != nil {
		return nil, err
	}
	s := &Socket{places: p}
	var err error
	if s.claimed, err = p.takeClaim(ctx); err != nil {
		return nil, err
	}
	s.KeptSocket = &KeptSocket{Path: p.Socket, open: s.openAlone}
	if err := s.Again(ctx); err != nil {
		s.Release()
		return nil, err
	}
	return s, nil
}

// takeClaim waits for the claim, as long as no keeper answers on the socket.
func (p Places) takeClaim(ctx context.Context) (*lock, error) {
	if err := os.MkdirAll(filepath.Dir(p.Claim()), 0o700); err != nil {
		return nil, fmt.Errorf("keeper: cannot make a directory for its lock: %w", err)
	}
	for {
		l, err := tryLock(p.Claim())
		if l != nil || err != nil {
			return l, err
		}
		if err := p.silent(ctx); errors.Is(err, ErrRunning) {
			return nil, err
		}
		select {
		case <-time.After(lockEvery):
		case <-ctx.Done():
			return nil, fmt.Errorf("keeper: another one holds %s, and does not answer on %s: %w", p.Claim(), p.Socket, context.Cause(ctx))
		}
	}
}

// silent reports that no keeper is behind the socket.
func (p Places) silent(ctx context.Context) error {
	c, err := (&net.Dialer{}).DialContext(ctx, "unix", p.Socket)
	switch {
	case err == nil:
		defer c.Close()
		// A keeper that was killed while it started a program has lent that its socket until the program begins.
		if _, pid, err := PeerOf(c.(*net.UnixConn)); err == nil && pid > 0 && errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
			return nil
		}
		return fmt.Errorf("%w: it answers on %s", ErrRunning, p.Socket)
	case !gone(err):
		return fmt.Errorf("keeper: cannot find out whether one is running: %w", err)
	}
	return nil
}

// openAlone opens the socket in its directory, which it makes. Keepers that know nothing of claims are kept away by two locks
// there: starting is held only as long as it takes to find out and to open the socket, serving as long as the keeper lives.
func (s *Socket) openAlone(ctx context.Context) (*net.UnixListener, error) {
	if err := s.places.makeDir(); err != nil {
		return nil, err
	}
	dir := filepath.Dir(s.Path)
	starting, err := takeLock(ctx, filepath.Join(dir, "keeper.start.lock"))
	if err != nil {
		return nil, err
	}
	defer starting.release()
	if err := s.places.silent(ctx); err != nil {
		return nil, err
	}
	if !s.serving.is(filepath.Join(dir, servingLock)) {
		serving, err := takeLock(ctx, filepath.Join(dir, servingLock))
		if err != nil {
			return nil, err
		}
		s.serving.release()
		s.serving = serving
	}
	// What is there now was left by a keeper that is dead: we hold its lock.
	if err := os.Remove(s.Path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("keeper: cannot remove the socket of a dead keeper: %w", err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: s.Path, Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("keeper: cannot open the socket: %w", err)
	}
	if err := os.Chmod(s.Path, 0o600); err != nil {
		l.Close()
		return nil, fmt.Errorf("keeper: cannot open the socket: %w", err)
	}
	return l, nil
}

// Release lets other keepers have the socket's name. It comes last: who has the locks knows that nothing is left of us.
func (s *Socket) Release() {
	s.claimed.release()
	s.serving.release()
}

// AwaitSocket waits, for a few seconds, for a keeper that lives and whose socket was removed, and reports whether it answers.
func (p Places) AwaitSocket(ctx context.Context) bool {
	ctx, stop := context.WithTimeout(ctx, 2*LookEvery)
	defer stop()
	for {
		if _, err := os.Lstat(p.Claim()); err != nil {
			return false
		}
		l, err := tryLock(p.Claim())
		if l != nil || err != nil {
			l.release()
			return false
		}
		if errors.Is(p.silent(ctx), ErrRunning) {
			return true
		}
		select {
		case <-time.After(lockEvery):
		case <-ctx.Done():
			return false
		}
	}
}

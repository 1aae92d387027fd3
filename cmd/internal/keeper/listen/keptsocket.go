package listen

import (
	"context"
	"net"
	"os"
	"sync"
	"time"
)

// KeptSocket is a unix listener whose socket can be made again where its file was removed or replaced: systemd-logind removes
// a user's runtime directory at the last logout, with the sockets of programs that still run.
type KeptSocket struct {
	Path string
	open func(context.Context) (*net.UnixListener, error)

	mu     sync.Mutex // guards what follows
	l      *net.UnixListener
	is     os.FileInfo // the socket's file
	closed bool
}

// Again makes the socket, and whoever accepts goes on with it.
func (s *KeptSocket) Again(ctx context.Context) error {
	l, err := s.open(ctx)
	if err != nil {
		return err
	}
	l.SetUnlinkOnClose(false) // it may be another's by then
	is, err := os.Lstat(s.Path)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil && s.closed {
		err = net.ErrClosed
	}
	if err != nil {
		l.Close()
		return err
	}
	if s.l != nil {
		s.l.Close()
	}
	s.l, s.is = l, is
	return nil
}

// Lost reports that callers cannot find the socket any more.
func (s *KeptSocket) Lost() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.closed && !s.there()
}

// there reports whether the file at the path is the socket. A number of a file may be used again, so its time counts too.
func (s *KeptSocket) there() bool {
	st, err := os.Lstat(s.Path)
	return err == nil && os.SameFile(st, s.is) && st.ModTime().Equal(s.is.ModTime())
}

func (s *KeptSocket) current() (*net.UnixListener, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.l, s.closed
}

// AcceptUnix accepts on the socket as it is now.
func (s *KeptSocket) AcceptUnix() (*net.UnixConn, error) {
	for {
		l, _ := s.current()
		c, err := l.AcceptUnix()
		if now, closed := s.current(); err != nil && !closed && now != l {
			continue
		}
		return c, err
	}
}

// Accept implements net.Listener.
func (s *KeptSocket) Accept() (net.Conn, error) { return s.AcceptUnix() }

// Addr implements net.Listener.
func (s *KeptSocket) Addr() net.Addr { return &net.UnixAddr{Name: s.Path, Net: "unix"} }

// Close ends the listener and removes the socket, if it is still ours. It is idempotent.
func (s *KeptSocket) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	if s.there() {
		os.Remove(s.Path)
	}
	return s.l.Close()
}

// Looking for a socket that was removed.
const (
	StartTime  = time.Minute // bounds how long a start waits for a keeper that is ending
	LookEvery  = 2 * time.Second
	AgainTime  = 5 * time.Second // for one attempt to make it again
	AgainTries = 3
)

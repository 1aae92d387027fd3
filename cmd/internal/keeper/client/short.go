package client

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"sync"
	"syscall"
	"time"
)

// maxShort bounds a request that goes the short way, in bytes of its body: it must fit into a socket's buffer, so that whoever
// writes it never waits for a keeper that is answering already.
const maxShort = 32 << 10

// Of connections that are kept for the next request.
const (
	maxIdle  = 64
	idleTime = time.Minute // a keeper keeps them longer
)

// shortWay asks a question and reads the whole answer without a goroutine of its own. An http.Transport has two for each
// connection, and waking them takes longer than many a command.
type shortWay struct {
	dial func(ctx context.Context) (net.Conn, error)

	mu   sync.Mutex // guards idle
	idle []*line    // the one used last at the end
}

// line is a connection to the keeper.
type line struct {
	net.Conn
	r     *bufio.Reader
	w     *bufio.Writer
	since time.Time // unused
}

// takes reports whether a request can go this way.
func (s *shortWay) takes(r *http.Request) bool {
	return r.Body == nil || r.GetBody != nil && r.ContentLength <= maxShort
}

// do makes a request and reads its answer. One that could not be sent over a connection that had been waiting is sent over
// a new one; after that nobody knows whether it was heard.
func (s *shortWay) do(r *http.Request) (*http.Response, []byte, error) {
	ctx := r.Context()
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	l := s.take()
	waited := l != nil
	if l == nil {
		var err error
		if l, err = s.connect(ctx); err != nil {
			return nil, nil, err
		}
	}
	stop := context.AfterFunc(ctx, func() { _ = l.SetDeadline(time.Unix(1, 0)) })
	resp, body, sent, err := l.ask(r)
	if fine := stop(); fine && err == nil && !resp.Close {
		s.keep(l)
	} else {
		l.Close()
	}
	if err == nil || !waited || sent || ctx.Err() != nil {
		return resp, body, err
	}
	if r.GetBody != nil {
		if r.Body, err = r.GetBody(); err != nil {
			return nil, nil, err
		}
	}
	if l, err = s.connect(ctx); err != nil {
		return nil, nil, err
	}
	defer l.Close()
	stop = context.AfterFunc(ctx, func() { _ = l.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	resp, body, _, err = l.ask(r)
	return resp, body, err
}

// ask sends a request and reads the answer. sent says that all of it has left.
func (l *line) ask(r *http.Request) (resp *http.Response, body []byte, sent bool, err error) {
	err = r.Write(l.w)
	if err == nil {
		err = l.w.Flush()
	}
	sent = err == nil
	// A keeper that does not read a request to its end has answered it.
	for resp == nil || resp.StatusCode < 200 {
		var rerr error
		if resp, rerr = http.ReadResponse(l.r, r); rerr != nil {
			if err == nil {
				err = closedEarly(rerr)
			}
			return nil, nil, sent, err
		}
	}
	defer resp.Body.Close()
	if !sent {
		resp.Close = true
	}
	var b bytes.Buffer
	n, err := b.ReadFrom(io.LimitReader(resp.Body, maxAnswer))
	switch {
	case err != nil:
		return nil, nil, sent, closedEarly(err)
	case n == maxAnswer:
		resp.Close = true
	}
	return resp, b.Bytes(), true, nil
}

// closedEarly says what the end of a connection means here.
func closedEarly(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it has closed the connection")
	}
	return err
}

func (s *shortWay) connect(ctx context.Context) (*line, error) {
	c, err := s.dial(ctx)
	if err != nil {
		return nil, err
	}
	return &line{Conn: c, r: bufio.NewReader(c), w: bufio.NewWriterSize(c, 4<<10)}, nil
}

// take returns a connection that waits, and is still one; nil where there is none.
func (s *shortWay) take() *line {
	for {
		s.mu.Lock()
		s.sweep()
		n := len(s.idle)
		if n == 0 {
			s.mu.Unlock()
			return nil
		}
		l := s.idle[n-1]
		s.idle = slices.Delete(s.idle, n-1, n)
		s.mu.Unlock()
		if l.lives() {
			return l
		}
		l.Close()
	}
}

// keep lets a connection wait for the next request.
func (s *shortWay) keep(l *line) {
	l.since = time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep()
	if len(s.idle) == maxIdle {
		l.Close()
		return
	}
	s.idle = append(s.idle, l)
}

// sweep closes those that have waited for long. It needs the lock.
func (s *shortWay) sweep() {
	now := time.Now()
	n := 0
	for n < len(s.idle) && now.Sub(s.idle[n].since) > idleTime {
		s.idle[n].Close()
		n++
	}
	s.idle = slices.Delete(s.idle, 0, n)
}

// close closes those that wait.
func (s *shortWay) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, l := range s.idle {
		l.Close()
	}
	s.idle = nil
}

// lives reports whether the other side has neither hung up nor said what nobody has asked for.
func (l *line) lives() bool {
	if l.r.Buffered() > 0 {
		return false
	}
	sc, ok := l.Conn.(syscall.Conn)
	if !ok {
		return true
	}
	raw, err := sc.SyscallConn()
	if err != nil {
		return false
	}
	quiet := false
	err = raw.Read(func(fd uintptr) bool {
		var b [1]byte
		_, _, err := syscall.Recvfrom(int(fd), b[:], syscall.MSG_PEEK|syscall.MSG_DONTWAIT)
		quiet = errors.Is(err, syscall.EAGAIN)
		return true
	})
	return err == nil && quiet
}

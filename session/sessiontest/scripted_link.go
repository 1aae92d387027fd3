package sessiontest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
)

// link is one connection of a Dialer.
type link struct {
	d    *Dialer
	host hosts.Host
	gone chan struct{} // closed when the connection is

	mu      sync.Mutex // guards what follows
	over    bool
	why     error
	streams []*terminal
}

// Open starts a program: the shell's loader, or the line that signals a shell's processes.
func (l *link) Open(ctx context.Context, p session.Program) (session.Stream, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	f := l.d.faults(l.host.Name)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.over:
		return nil, fmt.Errorf("sessiontest: %s: %w", l.host.Name, session.ErrClosed)
	case f.MaxSessions > 0 && len(l.streams) >= f.MaxSessions:
		return nil, fmt.Errorf("sessiontest: %s: %w", l.host.Name, session.ErrFull)
	}
	s := &terminal{link: l, faults: f, hungUp: make(chan struct{})}
	s.wake.L = &s.mu
	if pid, signal, ok := parseSignal(p.Line); ok {
		n := 0
		for _, other := range l.streams {
			if other.pid == pid {
				n = other.signal(signal)
				if n == 0 && strings.Count(p.Line, "kill -URG $0") > 1 {
					other.hears(signal)
				}
			}
		}
		s.out = fmt.Appendf(nil, "fairlead:%d:%d::\n", pid, n)
		s.ended = true
	} else if strings.Contains(p.Line, "fairlead-process:") { // nothing waits for a terminal
		s.out = []byte("fairlead-done:\n")
		s.ended = true
	} else if err := s.boot(p.Line); err != nil {
		return nil, err
	}
	l.streams = append(l.streams, s)
	return s, nil
}

// parseSignal reads the line that framing.Signal or framing.Interrupt makes.
func parseSignal(line string) (pid int, signal string, ok bool) {
	at := strings.LastIndex(line, "kill -URG $0")
	if at < 0 {
		return 0, "", false
	}
	_, rest, ok := strings.Cut(line[at+len("kill -U"):], "kill -")
	if !ok {
		return 0, "", false
	}
	signal, _, _ = strings.Cut(rest, " ")
	pid, err := strconv.Atoi(line[strings.LastIndexByte(line, ' ')+1:])
	return pid, signal, err == nil
}

func (l *link) Wait() error {
	<-l.gone
	return l.why
}

func (l *link) Close() error {
	for _, s := range l.end(nil) {
		s.Close()
	}
	return nil
}

// end takes the connection away and returns the streams that were open.
func (l *link) end(why error) []*terminal {
	l.d.mu.Lock()
	m := l.d.machine(l.host.Name)
	m.open = slices.DeleteFunc(m.open, func(o *link) bool { return o == l })
	l.d.mu.Unlock()
	l.mu.Lock()
	if !l.over {
		l.over, l.why = true, why
		close(l.gone)
	}
	streams := slices.Clone(l.streams)
	l.mu.Unlock()
	for _, s := range streams {
		s.cut()
	}
	return streams
}

// forget frees the place of a stream.
func (l *link) forget(s *terminal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.streams = slices.DeleteFunc(l.streams, func(o *terminal) bool { return o == s })
}

func (l *link) Peer() session.Peer {
	return session.Peer{Addr: l.host.Name + ":22", User: "test", HostKey: "SHA256:host", Key: "SHA256:key", Via: l.host.Via}
}

// Ping has the form of session.Pinger.
func (l *link) Ping(ctx context.Context) error {
	f := l.d.faults(l.host.Name)
	if f.PingSlow != nil {
		select {
		case <-f.PingSlow:
		case <-l.gone:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	select {
	case <-l.gone:
		return session.ErrClosed
	default:
		return f.Ping
	}
}

// terminal is one program of a link: what it prints waits in out, what is typed is read as far as it goes, at once.
type terminal struct {
	link   *link
	faults Faults
	calls  sync.WaitGroup // functions that are being asked
	hungUp chan struct{}

	mu     sync.Mutex // guards what follows
	wake   sync.Cond
	out    []byte // printed and not read yet
	ended  bool   // the program prints nothing more
	exit   session.Exit
	silent error // the far side never said how it ended
	closed bool
	shell
}

func (s *terminal) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.out) == 0 && !s.ended && !s.closed {
		s.wake.Wait()
	}
	switch {
	case s.closed || len(s.out) == 0:
		return 0, io.EOF
	case len(p) == 0:
		return 0, nil
	}
	n := copy(p, s.out)
	if s.out = s.out[n:]; len(s.out) == 0 {
		s.out = nil // an idle session stays small
	}
	return n, nil
}

func (s *terminal) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.ended {
		return 0, fmt.Errorf("sessiontest: %w", session.ErrClosed)
	}
	s.typed(bytes.Clone(p))
	return len(p), nil
}

func (s *terminal) Wait() (session.Exit, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !s.ended && !s.closed {
		s.wake.Wait()
	}
	if !s.ended {
		return session.Exit{Signal: "HUP"}, nil
	}
	return s.exit, s.silent
}

func (s *terminal) Close() error {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		s.out, s.in = nil, nil
		s.hangUp()
		s.wake.Broadcast()
	}
	s.mu.Unlock()
	s.calls.Wait()
	s.link.forget(s)
	return nil
}

// cut is the end of the connection below. What has not been read is lost.
func (s *terminal) cut() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.ended, s.silent = true, errBroken
	}
	s.out = nil
	s.hangUp()
	s.wake.Broadcast()
}

// hangUp tells the functions. s.mu is held.
func (s *terminal) hangUp() {
	select {
	case <-s.hungUp:
	default:
		close(s.hungUp)
	}
}

// print is what the program prints. s.mu is held.
func (s *terminal) print(parts ...string) {
	if s.closed || s.ended {
		return
	}
	for _, p := range parts {
		s.out = append(s.out, p...)
	}
	s.wake.Broadcast()
}

// end is the program's end. s.mu is held.
func (s *terminal) end(exit session.Exit) {
	if !s.ended {
		s.ended, s.exit = true, exit
	}
	s.hangUp()
	s.wake.Broadcast()
}

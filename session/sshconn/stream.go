package sshconn

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/session"
)

// stream is one program on its terminal. It speaks to the channel itself: reading and writing pass nothing in between.
type stream struct {
	c  *Conn
	ch ssh.Channel

	exited chan struct{} // closed once it is known how the program ended, or that nobody will say
	exit   session.Exit  // valid after exited, as is exitErr
	unsaid bool
	gone   chan struct{} // closed once the channel is

	closing sync.Once
	hungUp  atomic.Bool // Close has begun
}

// noCommands is why a server refuses a command: sshd does so, too, where it cannot start a process for the account.
const noCommands = "starts no command for this account: it may be let run none, or have as many processes there as its limit allows (ulimit -u)"

// Open starts p.
func (c *Conn) Open(ctx context.Context, p session.Program) (session.Stream, error) {
	if p.Line == "" {
		return nil, errors.New("sshconn: a program needs a command line")
	}
	s, err := start(ctx, c, func() (*stream, error) { return c.open(p) }, func(s *stream) { s.ch.Close() })
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (c *Conn) open(p session.Program) (*stream, error) {
	if c.noTerminal.Load() {
		return nil, c.withoutTerminal()
	}
	return c.channel(func(s *stream) error {
		if err := s.setEnv(p.Env); err != nil {
			return err
		}
		if err := s.askForAgent(); err != nil {
			return err
		}
		err := s.terminal(p)
		if err == nil {
			err = s.request("exec", ssh.Marshal(struct{ Line string }{p.Line}), noCommands)
		}
		return err
	})
}

// channel opens a session's channel, and lets ask say what is wanted of it.
func (c *Conn) channel(ask func(s *stream) error) (*stream, error) {
	ch, requests, err := c.openChannel("session", nil)
	if err != nil {
		return nil, c.refused(err)
	}
	s := &stream{c: c, ch: ch, exited: make(chan struct{}), gone: make(chan struct{})}
	// The library delivers nothing at all while a channel's requests are not taken.
	if !c.spawn(func() { s.serve(requests) }) || !c.spawn(s.drain) {
		return nil, c.reason()
	}
	if err := ask(s); err != nil {
		_ = ch.Close()
		return nil, err
	}
	return s, nil
}

// openChannel is the library's, which never returns when a connection ends just before it has asked: its answer is waited
// for only as long as there is a connection. [wire.end] makes that rare; a goroutine that is left behind nevertheless holds
// a channel's buffers, no more.
func (c *Conn) openChannel(kind string, extra []byte) (ssh.Channel, <-chan *ssh.Request, error) {
	type answer struct {
		ch       ssh.Channel
		requests <-chan *ssh.Request
		err      error
	}
	asked, ok := c.w.ask()
	if !ok {
		return nil, nil, io.EOF
	}
	come := make(chan answer, 1)
	go func() {
		defer asked()
		c.paced()
		ch, requests, err := c.ssh.OpenChannel(kind, extra)
		if err == nil {
			ch, requests = c.politely(ch, requests)
		}
		come <- answer{ch, requests, err}
	}()
	select {
	case a := <-come:
		return a.ch, a.requests, a.err
	case <-c.done:
	}
	select {
	case a := <-come:
		return a.ch, a.requests, a.err
	default:
		return nil, nil, io.EOF
	}
}

// setEnv sends variables, and then ssh_config's, which win. As with ssh, a server that does not want one says nothing.
func (s *stream) setEnv(more []string) error {
	for _, v := range slices.Concat(more, s.c.t.setEnv) {
		name, value, _ := strings.Cut(v, "=")
		if _, err := s.ch.SendRequest("env", false, ssh.Marshal(struct{ Name, Value string }{name, value})); err != nil {
			return s.broken()
		}
	}
	return nil
}

func (s *stream) request(name string, payload []byte, no string) error {
	switch ok, err := s.ch.SendRequest(name, true, payload); {
	case err == nil && ok:
		return nil
	case err == nil:
		return fmt.Errorf("sshconn: %s: the server %s", s.c.t.name, no)
	}
	return s.broken()
}

// terminal asks for one. A server that has given none on this connection is not asked again: its answer is about the account,
// the key and the address, which stay.
func (s *stream) terminal(p session.Program) error {
	if !s.c.noTerminal.Load() {
		switch ok, err := s.ch.SendRequest("pty-req", true, ptyRequest(p)); {
		case err == nil && ok:
			return nil
		case err != nil:
			return s.broken()
		}
		s.c.noTerminal.Store(true)
	}
	return s.c.withoutTerminal()
}

// broken says why a session could not be started.
func (s *stream) broken() error {
	if gone := s.c.reason(); gone != nil {
		return gone
	}
	return fmt.Errorf("sshconn: %s: the server closed the session while it was starting: %w", s.c.t.name, session.ErrClosed)
}

// serve takes what the server says about the program, until the channel is gone.
func (s *stream) serve(requests <-chan *ssh.Request) {
	defer close(s.gone)
	said := false
	for r := range requests {
		if !said && s.ended(r) {
			said = true
			close(s.exited)
		}
		if r.WantReply {
			_ = r.Reply(false, nil)
		}
	}
	if !said {
		s.unsaid = true
		close(s.exited)
	}
}

// ended reports whether r says how the program ended.
func (s *stream) ended(r *ssh.Request) bool {
	switch r.Type {
	case "exit-status":
		var m struct{ Code uint32 }
		if ssh.Unmarshal(r.Payload, &m) != nil {
			return false
		}
		s.exit = session.Exit{Code: int(m.Code)}
		return true
	case "exit-signal":
		var m struct {
			Name          string
			Core          bool
			Message, Lang string
		}
		if ssh.Unmarshal(r.Payload, &m) != nil {
			return false
		}
		s.exit = session.Exit{Signal: m.Name}
		return true
	}
	return false
}

// drain throws away what comes as standard error. A terminal has none, but a server that sends it would stop the whole
// channel once the window is full.
func (s *stream) drain() {
	var b [128]byte
	r := s.ch.Stderr()
	for {
		if _, err := r.Read(b[:]); err != nil {
			return
		}
	}
}

// Read returns what the program prints.
func (s *stream) Read(b []byte) (int, error) {
	n, err := s.ch.Read(b)
	if err != nil {
		if n > 0 {
			return n, nil
		}
		return 0, io.EOF
	}
	return n, nil
}

// Write types b.
func (s *stream) Write(b []byte) (int, error) {
	n, err := s.ch.Write(b)
	if err != nil {
		return n, s.over()
	}
	return n, nil
}

// over says why the program takes no more input.
func (s *stream) over() error {
	if err := s.c.reason(); err != nil {
		return err
	}
	return fmt.Errorf("sshconn: %s: the program has ended and takes no input: %w", s.c.t.name, session.ErrClosed)
}

// Wait blocks until the program has ended.
func (s *stream) Wait() (session.Exit, error) {
	<-s.exited
	if !s.unsaid {
		return s.exit, nil
	}
	why := s.c.reason()
	if why == nil && !s.hungUp.Load() {
		// Channels close just before a lost connection is known to be lost, so ask.
		if p := s.c.ask(); p != nil {
			<-p.done
			if p.err != nil {
				<-s.c.done
			}
		}
		why = s.c.reason()
	}
	if why == nil {
		why = fmt.Errorf("sshconn: %s: the channel is closed: %w", s.c.t.name, session.ErrClosed)
	}
	return session.Exit{}, fmt.Errorf("%w; the host did not say how the program ended", why)
}

// Resize tells the terminal's new size.
func (s *stream) Resize(size session.Size) error {
	if _, err := s.ch.SendRequest("window-change", false, windowChange(size)); err != nil {
		return s.over()
	}
	return nil
}

// Close hangs up. Nothing but the server's answer frees who reads, so a server that does not give it loses the
// connection:
//
//  1. The program's process group is sent SIGHUP. A server that still has input for a program that reads none would
//     otherwise keep both. Servers may refuse it.
//  2. The channel is closed. The server takes the terminal away, which sends SIGHUP too, and confirms.
//  3. Without that for some seconds, the connection is given up.
func (s *stream) Close() error { return s.close(true) }

// Release is Close without its first step, for a program that has read its input: that step also reaches what the program has just
// started.
func (s *stream) Release() error { return s.close(false) }

func (s *stream) close(signal bool) error {
	s.closing.Do(func() {
		s.hungUp.Store(true)
		// Writing may block when the server does not read.
		if !s.c.spawn(func() {
			select {
			case <-s.exited:
				signal = false
			default:
			}
			if signal {
				_, _ = s.ch.SendRequest("signal", false, ssh.Marshal(struct{ Name string }{"HUP"}))
			}
			_ = s.ch.Close()
		}) {
			return
		}
		patience := time.NewTimer(closePatience)
		defer patience.Stop()
		select {
		case <-s.gone:
		case <-patience.C:
			s.c.giveUp(fmt.Sprintf("the server did not confirm within %v that a program was hung up", closePatience))
		}
	})
	<-s.gone
	return nil
}

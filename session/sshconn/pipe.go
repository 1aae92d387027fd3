package sshconn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
)

// Piped says what a [Pipe] is connected to: one of Line, Subsystem, Host and nothing, which is the account's login shell.
type Piped struct {
	Line      string // a command line for the account's login shell, without a terminal
	Subsystem string // such as sftp
	Host      string // a host and port to connect to from there, or the absolute path of a socket and no port
	Port      uint16

	Env      []string         // NAME=VALUE, which the server may refuse to take; not for Host
	Terminal *session.Program // its Size and Term; nil is none
}

// Pipe is a program on the host with its own standard input, output and error, byte for byte, as ssh(1) gives it. Read is
// standard output, and Stderr must be read as well: what is not read holds the program back. All methods may be used
// concurrently.
type Pipe struct {
	s       *stream
	dial    bool
	leaving sync.Once
	left    chan struct{} // closed by Close
}

// Pipe starts p. ctx bounds starting only. Errors are those of [Conn.Open]; where the server does not have the subsystem the
// error wraps [errors.ErrUnsupported]. Nothing judges or records what is done: that is for the caller.
func (c *Conn) Pipe(ctx context.Context, p Piped) (*Pipe, error) {
	s, err := start(ctx, c, func() (*stream, error) { return c.pipe(p) }, func(s *stream) { s.ch.Close() })
	if err != nil {
		return nil, err
	}
	return &Pipe{s: s, dial: p.Host != "", left: make(chan struct{})}, nil
}

func (c *Conn) pipe(p Piped) (*stream, error) {
	kind, extra := "session", []byte(nil)
	switch {
	case hosts.IsSocket(p.Host): // PROTOCOL of OpenSSH, 2.4
		kind, extra = "direct-streamlocal@openssh.com", ssh.Marshal(struct {
			Path     string
			Reserved string
			Unused   uint32
		}{Path: p.Host})
	case p.Host != "":
		kind, extra = "direct-tcpip", ssh.Marshal(struct {
			Host   string
			Port   uint32
			Origin string
			From   uint32
		}{p.Host, uint32(p.Port), "127.0.0.1", 0})
	}
	ch, requests, err := c.openChannel(kind, extra)
	switch {
	case err != nil && p.Host != "":
		return nil, c.unreachable(err, p.Host)
	case err != nil:
		return nil, c.refused(err)
	}
	s := &stream{c: c, ch: ch, exited: make(chan struct{}), gone: make(chan struct{})}
	if !c.spawn(func() { s.serve(requests) }) {
		return nil, c.reason()
	}
	if p.Host == "" {
		if err := s.begin(p); err != nil {
			_ = ch.Close()
			return nil, err
		}
	}
	return s, nil
}

// begin says what is wanted of a session's channel.
func (s *stream) begin(p Piped) error {
	if err := s.setEnv(p.Env); err != nil {
		return err
	}
	if err := s.askForAgent(); err != nil {
		return err
	}
	if p.Terminal != nil {
		t := *p.Terminal
		t.Cooked = true // until the caller's own terminal is raw
		if err := s.terminal(t); err != nil {
			return err
		}
	}
	switch {
	case p.Subsystem != "":
		return s.subsystem(p.Subsystem)
	case p.Line != "":
		return s.request("exec", ssh.Marshal(struct{ Line string }{p.Line}), noCommands)
	}
	return s.request("shell", nil, "gives no shell to this account")
}

// Read reads standard output; io.EOF once there is no more.
func (p *Pipe) Read(b []byte) (int, error) { return p.s.Read(b) }

// Stderr is standard error.
func (p *Pipe) Stderr() io.Reader { return p.s.ch.Stderr() }

// Write writes to standard input. After the end of the program it fails.
func (p *Pipe) Write(b []byte) (int, error) { return p.s.Write(b) }

// CloseWrite ends standard input.
func (p *Pipe) CloseWrite() error {
	if err := p.s.ch.CloseWrite(); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("sshconn: %s: standard input cannot be ended: %w", p.s.c.t.name, err)
	}
	return nil
}

// EndOutput tells the host that standard output is not read any more, as ssh(1) does: what the program writes there from now on ends
// it with SIGPIPE. It reports false, and does nothing, where the server would not understand.
func (p *Pipe) EndOutput() bool {
	if p.dial || !bytes.Contains(p.s.c.ssh.ServerVersion(), []byte("OpenSSH")) {
		return false
	}
	_, err := p.s.ch.SendRequest("eow@openssh.com", false, nil)
	return err == nil
}

// Resize tells the terminal's new size.
func (p *Pipe) Resize(size session.Size) error { return p.s.Resize(size) }

// Wait blocks until the program has ended, or Close. A connection to a port has no end to tell: once Read has come to its own,
// Wait returns at once.
func (p *Pipe) Wait() (session.Exit, error) {
	if p.dial {
		return session.Exit{}, p.s.c.reason()
	}
	select {
	case <-p.s.exited:
	case <-p.left:
		select {
		case <-p.s.exited:
		default:
			return session.Exit{}, fmt.Errorf("sshconn: %s: hung up, and the program may go on: %w", p.s.c.t.name, session.ErrClosed)
		}
	}
	return p.s.Wait()
}

// Left is closed once Close has begun.
func (p *Pipe) Left() <-chan struct{} { return p.left }

// Close hangs up, and returns at once. As with ssh(1), a program without a terminal may go on; until it ends the server may
// hold the channel, and then Read, Write and the reads of Stderr return only with the connection. It is idempotent.
func (p *Pipe) Close() error {
	p.leaving.Do(func() {
		p.s.hungUp.Store(true)
		close(p.left)
		p.s.c.spawn(func() {
			select {
			case <-p.s.exited:
			default:
				if !p.dial {
					_, _ = p.s.ch.SendRequest("signal", false, ssh.Marshal(struct{ Name string }{"HUP"}))
				}
			}
			_ = p.s.ch.Close()
		})
	})
	return nil
}

package sshconn

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/keyring"
)

// Conn is a connection to a host: a [session.Transport] and [session.Pinger].
type Conn struct {
	d       *Dialer
	t       *target
	via     *jump // nil for a direct connection
	ssh     ssh.Conn
	w       *wire
	peer    session.Peer
	hostKey ssh.PublicKey
	vouched bool             // for this connection, and recorded nowhere
	cert    *ssh.Certificate // that logged in; nil where something else did
	trust   trust
	way     *way          // nil for a connection to a jump host
	shared  bool          // it is that of another ssh, which checks its host key and probes it
	done    chan struct{} // closed once the connection is gone; err is set by then
	err     error         // nil if Close was the reason

	wg sync.WaitGroup // every goroutine of the connection

	noTerminal atomic.Bool // the server has refused one
	rotating   sync.Once   // the host has said which keys are its own

	lending  sync.Mutex       // held while the server is asked to forward the agent
	lends    bool             // it has said yes; guarded by lending
	lendsNot atomic.Bool      // it has said no, and is not asked again
	bound    *keyring.Binding // what an agent is told that the host uses; nil where nothing is known

	heard listeners // ports of the host that are listened on for this side

	mu     sync.Mutex // guards what follows
	closed bool       // no goroutine may be started any more
	cause  error      // why we gave the connection up
	probe  *probe     // under way
	alive  keepAlive
}

func newConn(d *Dialer, t *target, via *jump, w *wire, sc ssh.Conn) *Conn {
	return &Conn{d: d, t: t, via: via, w: w, ssh: sc, done: make(chan struct{}), peer: session.Peer{Addr: t.addr(), User: t.user}}
}

// run starts the connection's own goroutines.
func (c *Conn) run(channels <-chan ssh.NewChannel, requests <-chan *ssh.Request) {
	c.spawn(func() { c.serve(channels, requests) })
	every, most := c.d.net.KeepAlive, c.d.net.KeepAliveMax
	if c.t.keepAlive != 0 {
		every = c.t.keepAlive
	}
	if c.t.keepAliveMax > 0 {
		most = c.t.keepAliveMax
	}
	if every > 0 && !c.shared { // that ssh would hang up
		c.watch(every, most)
	}
}

// spawn runs f in a goroutine that Close waits for. It reports false, and does nothing, once Close has begun.
func (c *Conn) spawn(f func()) bool {
	if !c.enter() {
		return false
	}
	go func() {
		defer c.wg.Done()
		f()
	}()
	return true
}

// enter makes Close wait for c.wg.Done. It reports false once Close has begun.
func (c *Conn) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.wg.Add(1)
	return true
}

// serve answers what the server asks, always no, until the connection is gone.
func (c *Conn) serve(channels <-chan ssh.NewChannel, requests <-chan *ssh.Request) {
	stuck := false
	for !stuck && (channels != nil || requests != nil) {
		select {
		case <-c.w.stuck:
			stuck = true
		case nc, ok := <-channels:
			if !ok {
				channels = nil
				continue
			}
			if nc.ChannelType() == "auth-agent@openssh.com" && c.t.lent != "" {
				c.lendAgent(nc)
				continue
			}
			if kind := nc.ChannelType(); kind == fromPort || kind == fromSocket {
				c.connected(nc)
				continue
			}
			_ = nc.Reject(ssh.Prohibited, "not asked for")
		case r, ok := <-requests:
			if !ok {
				requests = nil
				continue
			}
			if r.WantReply {
				_ = r.Reply(false, nil)
			}
			if r.Type == hostKeysRequest {
				c.rotate(r.Payload)
			}
		}
	}
	var err error
	if !stuck {
		err = c.ssh.Wait()
	}
	c.mu.Lock()
	c.alive.unwatch()
	switch {
	case c.cause != nil:
		c.err = c.cause
	case !c.closed:
		c.err = &lostError{c.t.name, c.t.addr(), "the connection was lost" + lost(err)}
	}
	c.mu.Unlock()
	close(c.done)
	if c.via != nil {
		c.d.release(c.via)
	}
}

// lostError says that a connection has ended, and why.
type lostError struct{ name, addr, why string }

func (e *lostError) Error() string {
	return fmt.Sprintf("sshconn: %s (%s): %s: %v", e.name, e.addr, e.why, session.ErrClosed)
}

func (e *lostError) Unwrap() error { return session.ErrClosed }

// Why is the reason alone: for what says itself which host it is about.
func (e *lostError) Why() string { return e.why }

// lost says why a connection ended, for the middle of a sentence.
func lost(err error) string {
	if err == nil {
		return ""
	}
	return plain(err)
}

// giveUp ends a connection that is of no use any more.
func (c *Conn) giveUp(why string) {
	c.mu.Lock()
	if c.cause == nil && !c.closed {
		c.cause = &lostError{c.t.name, c.t.addr(), why}
	}
	c.mu.Unlock()
	c.hangUp()
}

// Wait blocks until the connection is gone. The error says why, and wraps [session.ErrClosed]; it is nil if Close was
// the reason.
func (c *Conn) Wait() error {
	<-c.done
	return c.err
}

// Done is closed once the connection is gone.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Close ends the connection and every program on it, and lets go of its jump host.
func (c *Conn) Close() error {
	c.mu.Lock()
	c.closed = true
	c.alive.unwatch()
	c.mu.Unlock()
	c.hangUp()
	c.ended()
	return nil
}

// Peer says who is at the other end.
func (c *Conn) Peer() session.Peer { return c.peer }

// reason says why nothing can be done on the connection; nil means that it lives.
func (c *Conn) reason() error {
	select {
	case <-c.done:
		if c.err != nil {
			return c.err
		}
	default:
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.closed {
			return nil
		}
	}
	return fmt.Errorf("sshconn: %s: the connection is closed: %w", c.t.name, session.ErrClosed)
}

// start opens a channel in a goroutine of the connection, because the library knows no contexts, and hands it to ready
// there. When ctx ends first, whatever comes of it is given to drop.
func start[T any](ctx context.Context, c *Conn, open func() (T, error), drop func(T)) (T, error) {
	var zero T
	type opened struct {
		v   T
		err error
	}
	if err := c.reason(); err != nil {
		return zero, err
	}
	if ctx.Err() != nil {
		return zero, fmt.Errorf("sshconn: %s: not started: %w", c.t.name, ctxerr.Of(ctx))
	}
	result := make(chan opened)
	if !c.spawn(func() {
		v, err := open()
		select {
		case result <- opened{v, err}:
		case <-ctx.Done():
			if err == nil {
				drop(v)
			}
		}
	}) {
		return zero, c.reason()
	}
	select {
	case o := <-result:
		return o.v, o.err
	case <-ctx.Done():
		return zero, fmt.Errorf("sshconn: %s: given up: %w", c.t.name, ctxerr.Of(ctx))
	}
}

// refused explains a channel that was not opened.
func (c *Conn) refused(err error) error {
	if e, ok := errors.AsType[*ssh.OpenChannelError](err); ok {
		return fmt.Errorf("sshconn: %s: the server opens no more sessions on this connection (it says %q; MaxSessions may be"+
			" reached): %w", c.t.name, printable.Heard(e.Message, maxHeard), session.ErrFull)
	}
	if gone := c.reason(); gone != nil {
		return gone
	}
	return fmt.Errorf("sshconn: %s: the connection broke%s: %w", c.t.name, plain(err), session.ErrClosed)
}

package sessiontest

import (
	"context"
	"io"
	"net"
	"sync"
	"time"
)

// Wire is the network between a client and servers that cannot be told to fail, as sshd. Give its DialContext to whoever
// dials; then what was dialed through it fails on demand. The zero Wire is a healthy network. It is safe for concurrent
// use.
type Wire struct {
	mu      sync.Mutex // guards what follows
	conns   map[*wireConn]struct{}
	stalled chan struct{} // nil when not stalled
	delay   time.Duration
}

// DialContext dials as net.Dialer does.
func (w *Wire) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	var d net.Dialer
	nc, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	c := &wireConn{Conn: nc, w: w, ended: make(chan struct{}), done: make(chan struct{})}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.conns == nil {
		w.conns = map[*wireConn]struct{}{}
	}
	w.conns[c] = struct{}{}
	return c, nil
}

// Connections returns how many connections are open now.
func (w *Wire) Connections() int { return len(w.open()) }

// Cut resets every connection: the server sees that at once, and the client that the network is gone.
func (w *Wire) Cut() {
	for _, c := range w.open() {
		if tcp, ok := c.Conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		c.Conn.Close()
	}
}

// HalfClose makes every connection look, to the client, as if the server had said all it will ever say.
func (w *Wire) HalfClose() {
	for _, c := range w.open() {
		c.end.Do(func() { close(c.ended) })
		_ = c.SetReadDeadline(time.Unix(1, 0)) // unblocks a Read under way
	}
}

// Stall stops everything on every connection, present and future, until Resume.
func (w *Wire) Stall() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stalled == nil {
		w.stalled = make(chan struct{})
	}
}

// Resume ends Stall. Nothing was lost.
func (w *Wire) Resume() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stalled != nil {
		close(w.stalled)
		w.stalled = nil
	}
}

// Slow delays everything that the client sends from now on by d; zero ends it.
func (w *Wire) Slow(d time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.delay = d
}

func (w *Wire) open() []*wireConn {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make([]*wireConn, 0, len(w.conns))
	for c := range w.conns {
		all = append(all, c)
	}
	return all
}

func (w *Wire) state() (stalled <-chan struct{}, delay time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stalled, w.delay
}

// wireConn is one connection over a Wire.
type wireConn struct {
	net.Conn
	w     *Wire
	end   sync.Once
	ended chan struct{} // closed by HalfClose
	close sync.Once
	done  chan struct{} // closed by Close
}

// pass returns once nothing stalls the wire, or the connection is closed.
func (c *wireConn) pass() time.Duration {
	stalled, delay := c.w.state()
	if stalled != nil {
		select {
		case <-stalled:
		case <-c.done:
		}
	}
	return delay
}

func (c *wireConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.pass()
	select {
	case <-c.ended:
		return 0, io.EOF
	default:
		return n, err
	}
}

func (c *wireConn) Write(b []byte) (int, error) {
	if d := c.pass(); d > 0 {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
		case <-c.done:
		}
	}
	return c.Conn.Write(b)
}

func (c *wireConn) Close() error {
	c.close.Do(func() { close(c.done) })
	c.w.mu.Lock()
	delete(c.w.conns, c)
	c.w.mu.Unlock()
	return c.Conn.Close()
}

package sshserver

import (
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"
)

// Faults are ways to fail a client. They hold for connections that are accepted while they are set.
type Faults struct {
	Silent     bool       // accept TCP and say nothing
	StallKex   bool       // say the version, then nothing
	StallAuth  bool       // never decide about a key
	StallOpen  bool       // never answer the request for a channel
	Prelude    string     // send this text in place of SSH, and hang up, or with Silent wait
	HostKey    ssh.Signer // show another host key
	RefuseAuth bool       // let no key in
	RefuseOpen bool       // refuse every session, as when MaxSessions is reached
	Unanswered bool       // answer no global request, such as a keepalive
	RefusePTY  bool       // give no terminal
	RefuseExec bool       // start nothing
	NoExit     bool       // close channels without saying how the program ended
}

// SetFaults replaces the faults for connections that are accepted from now on. The zero Faults is a healthy server.
func (s *Server) SetFaults(f Faults) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = f
}

// Cut closes every connection without a word, as when a host loses power behind a firewall that resets.
func (s *Server) Cut() {
	for _, c := range s.open() {
		if tcp, ok := c.Conn.(*net.TCPConn); ok {
			_ = tcp.SetLinger(0)
		}
		c.Close()
	}
}

// HalfClose ends the server's side of every connection and goes on reading.
func (s *Server) HalfClose() {
	for _, c := range s.open() {
		if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
			_ = half.CloseWrite()
		}
	}
}

// Stall stops reading and writing on every connection, present and future, until Resume. The connections stay open, as
// when a network goes away without a word.
func (s *Server) Stall() { s.gate.shut() }

// Resume ends Stall. Nothing was lost.
func (s *Server) Resume() { s.gate.open() }

// Slow delays everything the server sends from now on by d; zero ends it.
func (s *Server) Slow(d time.Duration) { s.gate.delay.Store(int64(d)) }

// gate is what every connection passes on each Read and Write.
type gate struct {
	delay   atomic.Int64
	stalled atomic.Pointer[chan struct{}] // nil means open

	mu sync.Mutex // serialises shut and open
}

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stalled.Load() == nil {
		c := make(chan struct{})
		g.stalled.Store(&c)
	}
}

func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if c := g.stalled.Swap(nil); c != nil {
		close(*c)
	}
}

// pass returns once the gate is open, or the connection is closed.
func (g *gate) pass(done <-chan struct{}) {
	if c := g.stalled.Load(); c != nil {
		select {
		case <-*c:
		case <-done:
		}
	}
}

// faultyConn is a connection behind the gate.
type faultyConn struct {
	net.Conn
	gate  *gate
	close sync.Once
	done  chan struct{} // closed by Close
}

func (c *faultyConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.gate.pass(c.done)
	return n, err
}

func (c *faultyConn) Write(b []byte) (int, error) {
	c.gate.pass(c.done)
	if d := time.Duration(c.gate.delay.Load()); d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-c.done:
		}
	}
	return c.Conn.Write(b)
}

func (c *faultyConn) Close() error {
	c.close.Do(func() { close(c.done) })
	return c.Conn.Close()
}

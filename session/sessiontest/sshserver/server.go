// Package sshserver is a small SSH server that runs inside a process: shells on real pseudo-terminals, tunnels, and
// faults on demand. It serves the demo hosts and tests; it is not meant to face a network.
//
// It accepts public keys only, and only those it was told, from whatever user name. Programs run as the account of the
// process. Server is safe for concurrent use; there is no global state.
package sshserver

import (
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/ssh"
)

const (
	// DefaultMaxSessions is how many programs one connection may run at once, as with OpenSSH.
	DefaultMaxSessions = 10
	// DefaultGrace is how long a program may take to end after it was hung up, before it is killed.
	DefaultGrace = time.Second
)

// Config says how to serve. The zero Config is a server on a free port of 127.0.0.1 with a fresh host key, which lets
// in a fresh client key; see Server.ClientKey.
type Config struct {
	Listener   net.Listener    // nil means 127.0.0.1 and a free port. The server closes it
	HostKey    ssh.Signer      // nil means a fresh ed25519 key
	ClientKeys []ssh.PublicKey // who may log in; nil means a fresh key
	Shell      []string        // argv of the login shell, to which a command line is added; nil means /bin/sh -c
	Env        []string        // nil means what a login would have: HOME, USER, PATH and few more
	Dir        string          // "" means the home directory
	Grace      time.Duration   // 0 means DefaultGrace; negative kills at once

	// MaxSessions is how many programs one connection may run at once. 0 means DefaultMaxSessions; negative means any
	// number.
	MaxSessions int

	// Program, if not nil, is called for every command line instead of starting a process. It must return when ctx ends,
	// which happens when the channel closes.
	Program func(ctx context.Context, s *Session) Exit

	// Subsystems are served by name, such as "sftp". A function must return when its channel fails.
	Subsystems map[string]func(io.ReadWriteCloser) error

	// Settings, if not nil, changes what the SSH library is told about each connection, such as other ways to log in.
	Settings func(*ssh.ServerConfig)

	Faults Faults // for a server that is broken from the start; see Server.SetFaults
}

// Server is a running server.
type Server struct {
	cfg       Config
	listener  net.Listener
	clientKey ssh.Signer
	keys      map[string]bool
	accepted  atomic.Int64
	gate      gate
	ctx       context.Context // ends with the server
	cancel    context.CancelFunc
	wg        sync.WaitGroup // everything the server started

	mu     sync.Mutex // guards what follows
	faults Faults
	conns  map[*faultyConn]struct{}
	closed bool
}

// Start starts a server. Whoever starts it closes it.
func Start(cfg Config) (*Server, error) {
	s := &Server{cfg: cfg, listener: cfg.Listener, faults: cfg.Faults, keys: map[string]bool{}, conns: map[*faultyConn]struct{}{}}
	if s.cfg.Shell == nil {
		s.cfg.Shell = []string{"/bin/sh", "-c"}
	}
	if s.cfg.MaxSessions == 0 {
		s.cfg.MaxSessions = DefaultMaxSessions
	}
	switch {
	case s.cfg.Grace == 0:
		s.cfg.Grace = DefaultGrace
	case s.cfg.Grace < 0:
		s.cfg.Grace = 0
	}
	var err error
	if s.cfg.HostKey == nil {
		if s.cfg.HostKey, err = NewKey(); err != nil {
			return nil, err
		}
	}
	if cfg.ClientKeys == nil {
		if s.clientKey, err = NewKey(); err != nil {
			return nil, err
		}
		s.cfg.ClientKeys = []ssh.PublicKey{s.clientKey.PublicKey()}
	}
	for _, k := range s.cfg.ClientKeys {
		s.keys[string(k.Marshal())] = true
	}
	if s.listener == nil {
		if s.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return nil, fmt.Errorf("sshserver: %w", err)
		}
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.wg.Go(s.accept)
	return s, nil
}

// NewKey returns a fresh ed25519 key.
func NewKey() (ssh.Signer, error) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		return nil, fmt.Errorf("sshserver: cannot make a key: %w", err)
	}
	return ssh.NewSignerFromKey(key)
}

// Addr returns where the server listens, as host:port.
func (s *Server) Addr() string { return s.listener.Addr().String() }

// HostKey returns the host key that clients should see, whatever faults say.
func (s *Server) HostKey() ssh.PublicKey { return s.cfg.HostKey.PublicKey() }

// ClientKey returns the key that the server made for its clients; nil when Config.ClientKeys named some.
func (s *Server) ClientKey() ssh.Signer { return s.clientKey }

// Accepted returns how many connections were accepted so far.
func (s *Server) Accepted() int { return int(s.accepted.Load()) }

// Connections returns how many connections are open now.
func (s *Server) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.conns)
}

// Close stops listening, cuts every connection, hangs up every program, and returns when all is gone.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	err := s.listener.Close()
	s.Cut()
	s.wg.Wait()
	if err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("sshserver: %w", err)
	}
	return nil
}

func (s *Server) accept() {
	for {
		c, err := s.listener.Accept()
		if err != nil {
			if s.ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
				return
			}
			// Out of descriptors, or a client that was gone at once: others are still welcome, but not in a tight loop.
			select {
			case <-s.ctx.Done():
				return
			case <-time.After(10 * time.Millisecond):
			}
			continue
		}
		s.accepted.Add(1)
		conn := &faultyConn{Conn: c, gate: &s.gate, done: make(chan struct{})}
		s.mu.Lock()
		faults, refused := s.faults, s.closed
		if !refused {
			s.conns[conn] = struct{}{}
		}
		s.mu.Unlock()
		if refused {
			conn.Close()
			return
		}
		s.wg.Go(func() {
			defer s.forget(conn)
			defer conn.Close()
			s.serve(conn, faults)
		})
	}
}

func (s *Server) forget(c *faultyConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
}

// open returns the connections that are open now.
func (s *Server) open() []*faultyConn {
	s.mu.Lock()
	defer s.mu.Unlock()
	conns := make([]*faultyConn, 0, len(s.conns))
	for c := range s.conns {
		conns = append(conns, c)
	}
	return slices.Clip(conns)
}

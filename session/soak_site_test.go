package session_test

import (
	"context"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/localpty"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// breaker is what can go wrong on every way to a host.
type breaker interface {
	Cut()
	Connections() int
}

// network is a breaker with a network.
type network interface {
	breaker
	HalfClose()
	Stall()
	Resume()
	Slow(time.Duration)
}

// site is a host with a pool of connections to it, and what breaks them.
type site struct {
	name    string
	host    hosts.Host
	pool    *session.Pool
	breaker breaker
	server  *sshserver.Server // nil where the server cannot be told to refuse
	roomy   bool              // a connection takes more than one program

	// Faults come one at a time. Those that break connections count twice, before and after: an odd number means that one
	// is under way.
	breaking sync.Mutex
	cuts     atomic.Int64

	closed atomic.Int64 // connections that the pool knows to be gone
}

// disturb runs f, which breaks connections.
func (s *site) disturb(f func()) {
	s.breaking.Lock()
	defer s.breaking.Unlock()
	s.cuts.Add(1)
	defer s.cuts.Add(1)
	f()
}

// drag runs f, which takes time but loses nothing.
func (s *site) drag(f func()) {
	s.breaking.Lock()
	defer s.breaking.Unlock()
	f()
}

// on returns the site's host with that shell.
func (s *site) on(shell string) hosts.Host {
	h := s.host
	h.Shell = shell
	return h
}

// start gives the site its pool, which ends with the test.
func (s *site) start(t testing.TB, cfg session.Config, dial func(ctx context.Context, h hosts.Host) (session.Transport, error)) {
	trace := session.Trace{}
	if cfg.Trace != nil {
		trace = *cfg.Trace
	}
	trace.ConnClosed = func(context.Context, hosts.Host, error) { s.closed.Add(1) }
	cfg.Trace = &trace
	p, err := session.NewPool(session.PoolConfig{Dial: dial, Session: cfg, MaxConnsPerHost: -1})
	require.NoError(t, err)
	s.pool = p
	t.Cleanup(func() { p.Close() })
}

// localSite reaches this machine without a network.
func localSite(t testing.TB, cfg session.Config, mark sessiontest.Mark) *site {
	b := &localBreaker{}
	s := &site{name: "local", host: hosts.Host{Name: "local"}, breaker: b, roomy: true}
	s.start(t, cfg, func(context.Context, hosts.Host) (session.Transport, error) {
		tr, err := localpty.New(localpty.Config{Env: mark.On(os.Environ())})
		if err == nil {
			b.add(tr)
		}
		return tr, err
	})
	return s
}

// serverSite reaches the server that runs in the process; 0 programs on a connection means the server's default.
func serverSite(t testing.TB, cfg session.Config, mark sessiontest.Mark, programs int) *site {
	srv := sessiontest.Server(t, sshserver.Config{MaxSessions: programs, Env: mark.On(os.Environ())})
	s := &site{name: "server", host: sessiontest.Host(t, "server", srv.Addr()), breaker: srv, server: srv, roomy: programs == 0}
	if programs > 0 {
		s.name = "narrow"
	}
	s.start(t, cfg, serverDialer(t, srv).Dial)
	return s
}

func serverDialer(t testing.TB, srv *sshserver.Server) *sshconn.Dialer {
	d, err := sshconn.Static([]ssh.Signer{srv.ClientKey()}, sessiontest.HostKeys(t, srv.Addr(), srv.HostKey()))
	require.NoError(t, err)
	return d
}

// sshdSite reaches OpenSSH's server over a network that fails.
func sshdSite(t testing.TB, cfg session.Config, mark sessiontest.Mark, more ...string) *site {
	sshd := sessiontest.OpenSSHD(t, append(more, mark.SSHD())...)
	wire := &sessiontest.Wire{}
	s := &site{name: "sshd", host: sshd.Host(t, "sshd"), breaker: wire, roomy: true}
	s.start(t, cfg, wiredDialer(t, sshd, wire).Dial)
	return s
}

func wiredDialer(t testing.TB, sshd *sessiontest.SSHD, wire *sessiontest.Wire) *sshconn.Dialer {
	keys := sshd.HostKeys(t)
	d, err := sshconn.New(sshconn.Config{
		HostKeys: keys,
		Auth:     func(context.Context, hosts.Host) ([]ssh.Signer, error) { return []ssh.Signer{sshd.ClientKey}, nil },
		Network: sshconn.Network{DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			return wire.DialContext(ctx, network, addr)
		}},
	})
	require.NoError(t, err)
	return d
}

// localBreaker ends local transports.
type localBreaker struct {
	mu  sync.Mutex // guards all
	all []session.Transport
}

func (b *localBreaker) add(t session.Transport) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = append(b.all, t)
}

func (b *localBreaker) Cut() {
	b.mu.Lock()
	all := b.all
	b.all = nil
	b.mu.Unlock()
	for _, t := range all {
		t.Close()
	}
}

func (b *localBreaker) Connections() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.all)
}

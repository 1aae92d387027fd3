package sshconn_test

import (
	"context"
	"io"
	"net"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

func TestMain(m *testing.M) {
	if addr := os.Getenv(proxyVariable); addr != "" {
		os.Exit(proxyMain(addr))
	}
	goleak.VerifyTestMain(m)
}

// static returns a Dialer that knows server's keys and nothing else.
func static(t *testing.T, server *sshserver.Server) *sshconn.Dialer {
	t.Helper()
	d, err := sshconn.Static([]ssh.Signer{server.ClientKey()}, sessiontest.HostKeys(t, server.Addr(), server.HostKey()))
	require.NoError(t, err)
	return d
}

func dial(t *testing.T, d *sshconn.Dialer, h hosts.Host) session.Transport {
	t.Helper()
	c, err := d.Dial(t.Context(), h)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

// trusting returns a Dialer for several servers, which log in with the first one's key.
func trusting(t *testing.T, n sshconn.Network, servers ...*sshserver.Server) *sshconn.Dialer {
	t.Helper()
	var keys []knownhosts.StaticKey
	for _, s := range servers {
		h := sessiontest.Host(t, "", s.Addr())
		keys = append(keys, knownhosts.StaticKey{Host: knownhosts.Name(h.Addr, h.Port), Key: s.HostKey()})
	}
	db, err := knownhosts.Static(keys...)
	require.NoError(t, err)
	d, err := sshconn.New(sshconn.Config{
		HostKeys: db,
		Auth: func(context.Context, hosts.Host) ([]ssh.Signer, error) {
			return []ssh.Signer{servers[0].ClientKey()}, nil
		},
		Network: n,
	})
	require.NoError(t, err)
	return d
}

// piped returns a server in memory that runs program, and a Dialer for it.
func piped(t *testing.T, f sshserver.Faults, n sshconn.Network) (*sshserver.Server, *sshconn.Dialer) {
	t.Helper()
	listener, connect := sessiontest.Pipe(t)
	server := sessiontest.Server(t, sshserver.Config{Listener: listener, Faults: f, Program: echo})
	n.DialContext = connect
	return server, trusting(t, n, server)
}

// echo is a program that prints what is typed until it is hung up.
func echo(_ context.Context, s *sshserver.Session) sshserver.Exit {
	_, _ = io.Copy(s, s)
	return sshserver.Exit{}
}

// closedPort returns an address on loopback where nothing listens.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return l.Addr().String()
}

func newKey(t *testing.T) ssh.Signer {
	t.Helper()
	k, err := sshserver.NewKey()
	require.NoError(t, err)
	return k
}

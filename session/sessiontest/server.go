package sessiontest

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
)

// Server starts an SSH server in the process, for the time of the test. A configuration without client keys lets in
// only the key that ClientKey returns.
func Server(t testing.TB, cfg sshserver.Config) *sshserver.Server {
	t.Helper()
	s, err := sshserver.Start(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// Host describes how to reach a server on loopback that listens at addr, as host:port.
func Host(t testing.TB, name, addr string) hosts.Host {
	t.Helper()
	host, port := splitAddr(t, addr)
	return hosts.Host{Name: name, Addr: host, Port: port, User: "tester"}
}

// HostKeys trusts key for the server at addr, and nothing else.
func HostKeys(t testing.TB, addr string, key ssh.PublicKey) *knownhosts.DB {
	t.Helper()
	host, port := splitAddr(t, addr)
	db, err := knownhosts.Static(knownhosts.StaticKey{Host: knownhosts.Name(host, port), Key: key})
	require.NoError(t, err)
	return db
}

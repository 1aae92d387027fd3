package sshconn_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

func TestOptionsOfACallGoBeforeFilesAndTheHostItself(t *testing.T) {
	a := newAccount(t)
	key := a.key("id_ed25519", "")
	server := sessiontest.Server(t, sshserver.Config{ClientKeys: []ssh.PublicKey{key}})
	gate := sessiontest.Server(t, sshserver.Config{ClientKeys: []ssh.PublicKey{key}})
	a.knows(server, gate)
	a.config("ConnectTimeout 7\nUser filed", server, gate)
	at := sessiontest.Host(t, "", server.Addr())
	h := hosts.Host{Name: "web1", User: "listed", Via: []string{"nowhere.invalid"}}
	h.SSHOptions = []string{"User=typed", "ProxyJump=none"}
	peer := dial(t, a.dialer(), h).Peer()
	assert.Equal(t, "typed", peer.User)
	assert.Empty(t, peer.Via)
	h.SSHOptions = []string{"ProxyJump=web2", "User=other"}
	peer = dial(t, a.dialer(), h).Peer()
	assert.Equal(t, []string{"web2"}, peer.Via)
	assert.Equal(t, "other", peer.User)
	h = hosts.Host{Name: "elsewhere", SSHOptions: []string{"HostName=" + at.Addr, "Port=" + portOf(t, server)}}
	assert.Equal(t, server.Addr(), dial(t, a.dialer(), h).Peer().Addr)
	h.SSHOptions = append(h.SSHOptions, "IdentityFile="+a.path("missing"), "IdentitiesOnly=yes")
	_, err := a.dialer().Dial(t.Context(), h)
	assert.ErrorIs(t, err, session.ErrAuth, "the files that ssh tries unasked are not tried")
	h.SSHOptions = []string{"Port=x"}
	_, err = a.dialer().Dial(t.Context(), h)
	assert.ErrorContains(t, err, "command line:1: Port")
}

func portOf(t *testing.T, s *sshserver.Server) string {
	t.Helper()
	_, port, ok := cutLast(s.Addr())
	require.True(t, ok)
	return port
}

func cutLast(addr string) (host, port string, ok bool) {
	for i := len(addr) - 1; i >= 0; i-- {
		if addr[i] == ':' {
			return addr[:i], addr[i+1:], true
		}
	}
	return addr, "", false
}

func TestAJumpHostIsNotSharedByCallsWithOtherOptions(t *testing.T) {
	a := newAccount(t)
	server := sessiontest.Server(t, sshserver.Config{ClientKeys: []ssh.PublicKey{a.key("id_ed25519", "")}})
	a.knows(server)
	a.config("", server)
	d := a.dialer()
	way := func(options ...string) string {
		w, err := d.Way(hosts.Host{Name: "web1", SSHOptions: options})
		require.NoError(t, err)
		return w
	}
	assert.Equal(t, way(), way())
	assert.NotEqual(t, way(), way("ServerAliveInterval=5"))
	assert.NotEqual(t, way("ServerAliveInterval=5"), way("ServerAliveInterval=6"))
}

// OpenSSH's ssh-add on the host asks the agent of whoever has called.
func TestTheAgentIsLentWhereTheCallSaysSo(t *testing.T) {
	sshd := sessiontest.OpenSSHD(t)
	_, private, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	sock := newAgent(t, agent.AddedKey{PrivateKey: private, Comment: "lent-key"})
	cfg := sshconn.DefaultConfig{}
	cfg.Loader.LookupEnv = func(name string) (string, bool) { return sock, name == "SSH_AUTH_SOCK" }
	d, err := sshconn.Default(cfg)
	require.NoError(t, err)
	list := func(options ...string) string {
		options = append(options, "IdentityAgent="+sock)
		c := dial(t, d, hosts.Host{Name: "sshd", SSHConfig: sshd.Config, SSHOptions: options})
		var out []byte
		for range 2 { // one channel of the agent after the other
			s, err := c.Open(t.Context(), session.Program{Line: "ssh-add -l 2>&1"})
			require.NoError(t, err)
			out, err = io.ReadAll(s)
			require.NoError(t, err)
		}
		return string(out)
	}
	assert.Contains(t, list("ForwardAgent=yes"), "lent-key")
	assert.NotContains(t, list(), "lent-key")
	assert.NotContains(t, list("ForwardAgent=no"), "lent-key")

	c := dial(t, d, hosts.Host{Name: "sshd", SSHConfig: sshd.Config, SSHOptions: []string{"ForwardAgent=" + sock, "IdentityAgent=none"}})
	s, err := c.Open(t.Context(), session.Program{Line: "ssh-add -l 2>&1"})
	require.NoError(t, err)
	out, err := io.ReadAll(s)
	require.NoError(t, err)
	assert.Contains(t, string(out), "lent-key", "of the agent that ForwardAgent names, and not the one that logs in")

	sshd = sessiontest.OpenSSHD(t, "AllowAgentForwarding no")
	c = dial(t, d, hosts.Host{Name: "sshd", SSHConfig: sshd.Config, SSHOptions: []string{"ForwardAgent=yes", "IdentityAgent=" + sock}})
	for range 2 {
		s, err := c.Open(t.Context(), session.Program{Line: "echo without ${SSH_AUTH_SOCK-one}"})
		require.NoError(t, err)
		out, err := io.ReadAll(s)
		require.NoError(t, err)
		assert.Equal(t, "without one", strings.TrimSpace(string(out)), "as with ssh")
		p, err := c.(*sshconn.Conn).Pipe(t.Context(), sshconn.Piped{Line: "true"})
		require.NoError(t, err)
		assert.True(t, p.AgentRefused())
		require.NoError(t, p.Close())
	}
	_, err = d.Dial(t.Context(), hosts.Host{Name: "sshd", SSHConfig: sshd.Config, SSHOptions: []string{"ForwardAgent=yes", "IdentityAgent=none"}})
	assert.ErrorContains(t, err, "the SSH agent cannot be forwarded, because none is running")
}

package sshconn_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

func freshKey(t *testing.T) (ed25519.PrivateKey, ssh.Signer) {
	t.Helper()
	_, private, err := ed25519.GenerateKey(nil)
	require.NoError(t, err)
	signer, err := ssh.NewSignerFromKey(private)
	require.NoError(t, err)
	return private, signer
}

// serveAgent answers at a socket for the time of the test.
func serveAgent(t *testing.T, answer func(net.Conn)) (socket string) {
	t.Helper()
	socket = filepath.Join(t.TempDir(), "agent")
	l, err := net.Listen("unix", socket)
	require.NoError(t, err)
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer c.Close()
				answer(c)
			})
		}
	})
	t.Cleanup(func() { l.Close(); wg.Wait() })
	return socket
}

func newAgent(t *testing.T, keys ...agent.AddedKey) string {
	t.Helper()
	ring := agent.NewKeyring()
	for _, k := range keys {
		require.NoError(t, ring.Add(k))
	}
	return serveAgent(t, func(c net.Conn) { _ = agent.ServeAgent(ring, c) })
}

func TestAKeyOfTheAgentLogsIn(t *testing.T) {
	a := newAccount(t)
	private, signer := freshKey(t)
	a.agent = newAgent(t, agent.AddedKey{PrivateKey: private})
	server := accepting(t, signer.PublicKey())
	a.knows(server)
	a.config("", server)
	tr := dial(t, a.dialer(), hosts.Host{Name: "web1"})
	assert.Equal(t, ssh.FingerprintSHA256(signer.PublicKey()), tr.Peer().Key)
}

func TestKeysAreOfferedInTheOrderOfOpenSSH(t *testing.T) {
	a := newAccount(t)
	inFile := a.key("file", "")
	other, otherSigner := freshKey(t)
	named, namedSigner := freshKey(t)
	a.write("named.pub", string(ssh.MarshalAuthorizedKey(namedSigner.PublicKey())))
	a.agent = newAgent(t, agent.AddedKey{PrivateKey: other}, agent.AddedKey{PrivateKey: named})
	server := accepting(t, newKey(t).PublicKey())
	a.knows(server)
	prints := func(keys ...ssh.PublicKey) (out []string) {
		for _, k := range keys {
			out = append(out, ssh.FingerprintSHA256(k))
		}
		return out
	}
	offers := func() (out []string) {
		_, err := a.dialer().Dial(t.Context(), hosts.Host{Name: "web1"})
		var refused *sshconn.AuthError
		require.ErrorAs(t, err, &refused)
		for _, o := range refused.Offered {
			out = append(out, o.Fingerprint)
		}
		return out
	}
	files := "IdentityFile ~/.ssh/file\n\tIdentityFile ~/.ssh/named"
	a.config(files, server)
	assert.Equal(t, prints(namedSigner.PublicKey(), otherSigner.PublicKey(), inFile), offers(),
		"the agent's that a file names, the agent's others, then files")
	a.config("IdentitiesOnly yes\n\t"+files, server)
	assert.Equal(t, prints(namedSigner.PublicKey(), inFile), offers())
	a.config("IdentityAgent none\n\t"+files, server)
	assert.Equal(t, prints(inFile), offers())
}

func TestAnAgentThatIsStuckLeavesTheKeysInFiles(t *testing.T) {
	a := newAccount(t)
	done := make(chan struct{})
	a.agent = serveAgent(t, func(net.Conn) { <-done })
	t.Cleanup(func() { close(done) })
	key := a.key("id_ed25519", "")
	server := accepting(t, key)
	a.knows(server)
	a.config("", server)
	dial(t, a.dialer(), hosts.Host{Name: "web1", ConnectTimeout: 3 * time.Second})

	server = accepting(t, newKey(t).PublicKey())
	a.knows(server)
	a.config("", server)
	_, err := a.dialer().Dial(t.Context(), hosts.Host{Name: "web1", ConnectTimeout: 3 * time.Second})
	require.ErrorIs(t, err, session.ErrAuth)
	assert.ErrorContains(t, err, "it did not say its keys within 1s")
}

func TestAnAgentThatIsNotThereIsSkipped(t *testing.T) {
	a := newAccount(t)
	a.agent = filepath.Join(t.TempDir(), "nobody")
	server := accepting(t, a.key("id_ed25519", ""))
	a.knows(server)
	a.config("", server)
	dial(t, a.dialer(), hosts.Host{Name: "web1"})
}

// certified returns a certificate that lets key log in as user.
func certified(t *testing.T, authority ssh.Signer, key ssh.PublicKey, user string, from, to time.Time) *ssh.Certificate {
	t.Helper()
	c := &ssh.Certificate{
		Key: key, CertType: ssh.UserCert, KeyId: "ada@laptop", Serial: 7, ValidPrincipals: []string{user},
		ValidAfter: uint64(from.Unix()), ValidBefore: uint64(to.Unix()),
	}
	require.NoError(t, c.SignCert(rand.Reader, authority))
	return c
}

func TestACertificateNextToAKeyIsOfferedUnlessItHasExpired(t *testing.T) {
	a := newAccount(t)
	authority := newKey(t)
	server := sessiontest.OpenSSHD(t, "TrustedUserCAKeys "+a.write("ca.pub", string(ssh.MarshalAuthorizedKey(authority.PublicKey()))))
	key := a.key("id_ed25519", "")
	known, err := knownHostsOf(server)
	require.NoError(t, err)
	a.write("known_hosts", known)
	h := server.Host(t, "web1")

	cert := certified(t, authority, key, server.User, time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	a.write("id_ed25519-cert.pub", string(ssh.MarshalAuthorizedKey(cert)))
	peer := dial(t, a.dialer(), h).Peer()
	assert.Equal(t, ssh.FingerprintSHA256(key), peer.Key)
	assert.Equal(t, "ada@laptop", peer.CertID)
	assert.EqualValues(t, 7, peer.CertSerial)

	h.SSHOptions = []string{"CertificateFile=none"}
	_, err = a.dialer().Dial(t.Context(), h)
	require.ErrorIs(t, err, session.ErrAuth, "as with ssh, that keeps it from being used")
	h.SSHOptions = nil

	old := certified(t, authority, key, server.User, time.Unix(0, 0), time.Unix(1000, 0))
	a.write("id_ed25519-cert.pub", string(ssh.MarshalAuthorizedKey(old)))
	_, err = a.dialer().Dial(t.Context(), h)
	require.ErrorIs(t, err, session.ErrAuth)
	assert.ErrorContains(t, err, "the certificate expired at 1970-01-01T00:16:40Z")

	other := certified(t, authority, key, "bob", time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	other.CriticalOptions = map[string]string{"source-address": "192.0.2.0/24"}
	require.NoError(t, other.SignCert(rand.Reader, authority))
	a.write("id_ed25519-cert.pub", string(ssh.MarshalAuthorizedKey(other)))
	_, err = a.dialer().Dial(t.Context(), h)
	require.ErrorIs(t, err, session.ErrAuth)
	assert.ErrorContains(t, err, "-cert.pub) which is for bob and not for "+server.User+" and which counts only from 192.0.2.0/24; is the user right")
}

func TestOpenSSHWithAllKindsOfKeys(t *testing.T) {
	server := sessiontest.OpenSSHD(t)
	a := newAccount(t)
	known, err := knownHostsOf(server)
	require.NoError(t, err)
	a.write("known_hosts", known)
	for _, kind := range []string{"rsa", "ecdsa", "ed25519"} {
		t.Run(kind, func(t *testing.T) {
			keygen(t, a.path("id_"+kind), kind)
			authorize(t, server, a.path("id_"+kind+".pub"))
			h := server.Host(t, "web1")
			h.Identity = []string{a.path("id_" + kind)}
			tr := dial(t, a.dialer(), h)
			assert.NotEmpty(t, tr.Peer().Key)
		})
	}
}

// A key that ssh-add -h constrains logs in where it may, as with ssh, and where it may not it is not offered: the agent does not show it,
// and the same key in a file logs in.
func TestAKeyOfTheAgentThatIsForOneDestination(t *testing.T) {
	agentProgram, err := exec.LookPath("ssh-agent")
	if err != nil {
		needs.Part(t, "ssh-agent is not installed")
	}
	server, other := sessiontest.OpenSSHD(t), sessiontest.OpenSSHD(t)
	a := newAccount(t)
	for _, s := range []*sessiontest.SSHD{server, other} {
		known, err := knownHostsOf(s)
		require.NoError(t, err)
		text, _ := os.ReadFile(a.path("known_hosts"))
		a.write("known_hosts", string(text)+known)
	}
	key := filepath.Join(t.TempDir(), "key")
	keygen(t, key, "ed25519")
	authorize(t, server, key+".pub")
	authorize(t, other, key+".pub")
	a.agent = filepath.Join(t.TempDir(), "agent")
	running := exec.CommandContext(t.Context(), agentProgram, "-D", "-a", a.agent)
	require.NoError(t, running.Start())
	t.Cleanup(func() { _ = running.Process.Kill(); _ = running.Wait() })
	require.Eventually(t, func() bool { _, err := os.Stat(a.agent); return err == nil }, time.Minute, 10*time.Millisecond)
	add := exec.Command("ssh-add", "-q", "-h", knownhosts.Name("127.0.0.1", server.Host(t, "web1").Port), "-H", a.path("known_hosts"), key)
	add.Env = append(os.Environ(), "SSH_AUTH_SOCK="+a.agent)
	if out, err := add.CombinedOutput(); err != nil {
		needs.Part(t, "ssh-add -h is not supported: %s", out)
	}
	for _, kex := range []string{"curve25519-sha256", "diffie-hellman-group14-sha256", "diffie-hellman-group-exchange-sha256"} {
		h := server.Host(t, "web1")
		h.SSHOptions = []string{"KexAlgorithms=" + kex}
		assert.NotEmpty(t, dial(t, a.dialer(), h).Peer().Key, kex)
	}
	_, err = a.dialer().Dial(t.Context(), other.Host(t, "web2"))
	require.ErrorIs(t, err, session.ErrAuth)
	assert.ErrorContains(t, err, "it shows no key: it is locked, holds none, or holds none for this host (ssh-add -h)")
	h := other.Host(t, "web2")
	h.Identity = []string{key}
	assert.NotEmpty(t, dial(t, a.dialer(), h).Peer().Key, "the file is asked, as by ssh")
}

// A host that is lent the agent gets no key that is constrained to other hosts.
func TestAnAgentThatIsLentKnowsWhoAsks(t *testing.T) {
	agentProgram, err := exec.LookPath("ssh-agent")
	if err != nil {
		needs.Part(t, "ssh-agent is not installed")
	}
	server, other := sessiontest.OpenSSHD(t), sessiontest.OpenSSHD(t)
	dir := t.TempDir()
	key, sock, known := filepath.Join(dir, "key"), filepath.Join(dir, "agent"), filepath.Join(dir, "known_hosts")
	keygen(t, key, "ed25519")
	var text []byte
	for _, s := range []*sessiontest.SSHD{server, other} {
		more, err := os.ReadFile(s.KnownHosts)
		require.NoError(t, err)
		text = append(text, more...)
	}
	require.NoError(t, os.WriteFile(known, text, 0o600))
	running := exec.CommandContext(t.Context(), agentProgram, "-D", "-a", sock)
	require.NoError(t, running.Start())
	t.Cleanup(func() { _ = running.Process.Kill(); _ = running.Wait() })
	require.Eventually(t, func() bool { _, err := os.Stat(sock); return err == nil }, time.Minute, 10*time.Millisecond)
	d, err := sshconn.Default(sshconn.DefaultConfig{})
	require.NoError(t, err)
	list := func(constraints ...string) string {
		add := exec.Command("ssh-add", append(append([]string{"-q", "-H", known}, constraints...), key)...)
		add.Env = append(os.Environ(), "SSH_AUTH_SOCK="+sock)
		if out, err := add.CombinedOutput(); err != nil {
			needs.Part(t, "ssh-add -h is not supported: %s", out)
		}
		c := dial(t, d, hosts.Host{Name: "sshd", SSHConfig: server.Config, SSHOptions: []string{"ForwardAgent=yes", "IdentityAgent=" + sock}})
		s, err := c.Open(t.Context(), session.Program{Line: "ssh-add -l 2>&1"})
		require.NoError(t, err)
		out, err := io.ReadAll(s)
		require.NoError(t, err)
		return string(out)
	}
	here := knownhosts.Name("127.0.0.1", server.Host(t, "x").Port)
	there := knownhosts.Name("127.0.0.1", other.Host(t, "x").Port)
	assert.Contains(t, list("-h", here, "-h", here+">"+there), "ED25519", "it may go on from here to there")
	assert.Contains(t, list("-h", there), "no identities", "it may be used from this machine only")
}

package sshconn_test

import (
	"context"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

func knownHostsOf(s *sessiontest.SSHD) (string, error) {
	text, err := os.ReadFile(s.KnownHosts)
	return string(text), err
}

// keygen makes a key with OpenSSH's own program, in its format.
func keygen(t *testing.T, file, kind string) {
	t.Helper()
	path, err := exec.LookPath("ssh-keygen")
	if err != nil {
		needs.Part(t, "ssh-keygen is not installed")
	}
	out, err := exec.Command(path, "-q", "-t", kind, "-N", "", "-f", file).CombinedOutput()
	require.NoError(t, err, "%s", out)
}

func authorize(t *testing.T, s *sessiontest.SSHD, public string) {
	t.Helper()
	text, err := os.ReadFile(public)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(s.Authorized, text, 0o600))
}

func TestOpenSSHAsItsOwnConfigurationSays(t *testing.T) {
	sshd := sessiontest.OpenSSHD(t)
	d, err := sshconn.Default(sshconn.DefaultConfig{})
	require.NoError(t, err)
	c := dial(t, d, hosts.Host{Name: "sshd", SSHConfig: sshd.Config})
	assert.Equal(t, session.Peer{
		Addr: sshd.Addr, User: sshd.User,
		HostKey: ssh.FingerprintSHA256(sshd.HostKey), Key: ssh.FingerprintSHA256(sshd.ClientKey.PublicKey()),
	}, c.Peer())
}

func TestOpenSSHThatHasNoRoomSaysSo(t *testing.T) {
	sshd := sessiontest.OpenSSHD(t, "MaxSessions 2")
	c := dial(t, dialerFor(t, sshd), sshd.Host(t, "web1"))
	p := session.Program{Line: "exec cat"}
	for range 2 {
		_, err := c.Open(t.Context(), p)
		require.NoError(t, err)
	}
	_, err := c.Open(t.Context(), p)
	assert.ErrorIs(t, err, session.ErrFull)
}

func TestOpenSSHThatGivesNoTerminalStartsNothing(t *testing.T) {
	sshd := sessiontest.OpenSSHD(t, "PermitTTY no")
	c := dial(t, dialerFor(t, sshd), sshd.Host(t, "web1"))
	_, err := c.Open(t.Context(), session.Program{Line: "exec cat"})
	assert.ErrorIs(t, err, session.ErrNoTerminal)
	assert.ErrorContains(t, err, "no terminal to ")
}

func TestOpenSSHThatLetsNobodyInSaysSo(t *testing.T) {
	sshd := sessiontest.OpenSSHD(t, "MaxAuthTries 2")
	d, err := sshconn.Static([]ssh.Signer{newKey(t), newKey(t), sshd.ClientKey}, sshd.HostKeys(t))
	require.NoError(t, err)
	_, err = d.Dial(t.Context(), sshd.Host(t, "web1"))
	require.ErrorIs(t, err, session.ErrAuth)
	assert.ErrorContains(t, err, `the server says "Too many authentication failures"`)
	assert.ErrorContains(t, err, "skipped given (servers hang up after 2 tries)")

	sshd = sessiontest.OpenSSHD(t, "PubkeyAuthentication no", "PasswordAuthentication yes")
	_, err = dialerFor(t, sshd).Dial(t.Context(), sshd.Host(t, "web1"))
	require.ErrorIs(t, err, session.ErrAuth)
	assert.ErrorContains(t, err, "the server takes no keys, but password")
}

func TestAlgorithmsThatOnlyOpenSSHHasAreLeftToItsClient(t *testing.T) {
	sshd := sessiontest.OpenSSHD(t, "MACs umac-64@openssh.com", "Ciphers aes128-ctr")
	_, err := dialerFor(t, sshd).Dial(t.Context(), sshd.Host(t, "web1"))
	assert.ErrorContains(t, err, `the server offers "umac-64@openssh.com", and Fairlead supports none of these`)
	assert.ErrorContains(t, err, `set ControlPath for the host in ssh_config, and connect with "ssh -fNM": Fairlead uses that connection`)
}

func TestOpenSSHIsAJumpHost(t *testing.T) {
	bastion := sessiontest.OpenSSHD(t)
	target := sessiontest.Server(t, sshserver.Config{ClientKeys: []ssh.PublicKey{bastion.ClientKey.PublicKey()}})
	one, two := sessiontest.Host(t, "", bastion.Addr), sessiontest.Host(t, "", target.Addr())
	db, err := knownhosts.Static(
		knownhosts.StaticKey{Host: knownhosts.Name(one.Addr, one.Port), Key: bastion.HostKey},
		knownhosts.StaticKey{Host: knownhosts.Name(two.Addr, two.Port), Key: target.HostKey()})
	require.NoError(t, err)
	d, err := sshconn.New(sshconn.Config{
		HostKeys: db,
		Auth:     func(context.Context, hosts.Host) ([]ssh.Signer, error) { return []ssh.Signer{bastion.ClientKey}, nil },
		Network:  sshconn.Network{Lookup: lookup(bastion.Host(t, "bastion"))},
	})
	require.NoError(t, err)
	h := sessiontest.Host(t, "web1", target.Addr())
	h.Via = []string{"bastion"}
	c := dial(t, d, h)
	s, err := c.Open(t.Context(), session.Program{Line: "printf through"})
	require.NoError(t, err)
	out, err := io.ReadAll(s)
	require.NoError(t, err)
	assert.Equal(t, "through", string(out))
	h = sessiontest.Host(t, "web1", closedPort(t))
	h.Via = []string{"bastion"}
	_, err = d.Dial(t.Context(), h)
	assert.ErrorContains(t, err, `bastion cannot connect to it: it says "Connection refused"`)
}

func dialerFor(t *testing.T, s *sessiontest.SSHD) *sshconn.Dialer {
	t.Helper()
	d, err := sshconn.Static([]ssh.Signer{s.ClientKey}, s.HostKeys(t))
	require.NoError(t, err)
	return d
}

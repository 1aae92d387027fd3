package shell_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
)

// sshd starts OpenSSH's server, and returns its line of the inventory. Shells there start in an empty home directory: what
// the account has in its own profile is no part of the test.
func sshd(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf("{name: sshd, ssh_config: %s}", sessiontest.OpenSSHD(t, "SetEnv HOME="+t.TempDir()).Config)
}

// server starts the server in this process, and returns its line of the inventory, under the name "server".
func server(t *testing.T, cfg sshserver.Config) (s *sshserver.Server, host string) {
	t.Helper()
	return serverAs(t, "server", cfg)
}

// serverAs is server with another name.
func serverAs(t *testing.T, name string, cfg sshserver.Config) (s *sshserver.Server, host string) {
	t.Helper()
	pub, priv, err := ed25519.GenerateKey(rand.Reader)
	require.NoError(t, err)
	client, err := ssh.NewPublicKey(pub)
	require.NoError(t, err)
	cfg.ClientKeys = []ssh.PublicKey{client}
	s = sessiontest.Server(t, cfg)

	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	block, err := ssh.MarshalPrivateKey(priv, "")
	require.NoError(t, err)
	key := write("key", string(pem.EncodeToMemory(block)))
	tcp, err := net.ResolveTCPAddr("tcp", s.Addr())
	require.NoError(t, err)
	known := write("known_hosts", fmt.Sprintf("%s %s", knownhosts.Name(tcp.IP.String(), uint16(tcp.Port)), ssh.MarshalAuthorizedKey(s.HostKey())))
	config := write("config", fmt.Sprintf("Host %s\n\tHostName %s\n\tPort %d\n\tUser tester\n\tIdentityFile %s\n\tIdentitiesOnly yes\n"+
		"\tIdentityAgent none\n\tUserKnownHostsFile %s\n\tGlobalKnownHostsFile none\n", name, tcp.IP, tcp.Port, key, known))
	return s, fmt.Sprintf("{name: %s, ssh_config: %s}", name, config)
}

func hostKey(t *testing.T) ssh.Signer {
	t.Helper()
	k, err := sshserver.NewKey()
	require.NoError(t, err)
	return k
}

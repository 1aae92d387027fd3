package ssh

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// Every line that -G prints is one that ssh -G prints.
func TestWhatIsShownIsWhatSSHShows(t *testing.T) {
	ssh, err := exec.LookPath("ssh")
	if err != nil {
		needs.Part(t, "ssh is not installed")
	}
	file := filepath.Join(t.TempDir(), "config")
	require.NoError(t, os.WriteFile(file, []byte(`Host a
	HostName %h.example.com
	User bob
	IdentityFile ~/.ssh/k1
	IdentityFile "/tmp/a b/k2"
	CertificateFile ~/.ssh/c
	ProxyJump a@b:22,[::1]:23,c
	SetEnv A=1 B="x y"
	SendEnv LANG LC_*
	ForwardAgent yes
	StrictHostKeyChecking accept-new
	ServerAliveInterval 1m
	ConnectTimeout 7
	ControlPath ~/.ssh/control
	UserKnownHostsFile ~/.ssh/a ~/.ssh/b
	IdentityAgent ~/.1password/agent.sock
	AddressFamily inet
	BindAddress 127.0.0.1
	RemoteCommand foo %h
Host b
	ProxyCommand nc -X %h %p
	PubkeyAuthentication no
	PreferredAuthentications password
	StrictHostKeyChecking no
	UserKnownHostsFile none
	IdentityFile none
	HostKeyAlias x
	IdentityAgent SSH_AUTH_SOCK
	CheckHostIP yes
	BatchMode yes
	ServerAliveInterval 5
	ConnectionAttempts 3
	RemoteCommand none
`), 0o600))
	for host, want := range map[string][]string{
		"a": {"identityfile ~/.ssh/k1", "identityfile /tmp/a b/k2", "proxyjump a@b:22,[::1]:23,c", "connecttimeout 7", "setenv B=x y", "remotecommand foo a.example.com"},
		"b": {"proxycommand nc -X %h %p", "stricthostkeychecking false", "checkhostip yes"},
		"c": {"identityfile ~/.ssh/id_ed25519", "stricthostkeychecking ask", "connecttimeout none"},
	} {
		out, err := exec.Command(ssh, "-F", file, "-G", host).Output()
		require.NoError(t, err)
		conf, err := sshconfig.Open(file)
		require.NoError(t, err)
		s, err := conf.Resolve(host, sshconfig.Options{Programs: true})
		require.NoError(t, err)
		all := strings.Split(string(out), "\n")
		lines := shown(s)
		for _, line := range lines {
			assert.Contains(t, all, line, host)
		}
		for _, line := range want {
			assert.Contains(t, lines, line, host)
		}
	}
}

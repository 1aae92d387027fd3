package sshconn_test

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/sessiontest"
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
		t.Skip("ssh-keygen is not installed")
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

package main_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

// The first command that people try, on a hundred addresses of one real sshd.
func TestTheMainCommandOnAHundredAddressesOfARealServer(t *testing.T) {
	t.Parallel()
	const fleet = 100
	sshd := sessiontest.OpenSSHD(t, "ListenAddress 0.0.0.0")
	_, port, err := net.SplitHostPort(sshd.Addr)
	require.NoError(t, err)
	home, err := os.MkdirTemp("", "fl") // not t.TempDir: a socket's name has 103 bytes at most
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(home) })
	write := func(name, text string) string {
		path := filepath.Join(home, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	known := write("known_hosts", fmt.Sprintf("[127.0.0.*]:%s %s", port, ssh.MarshalAuthorizedKey(sshd.HostKey)))
	var b strings.Builder
	for i := range fleet {
		fmt.Fprintf(&b, "Host node%03d\n\tHostName 127.0.0.%d\n", i+1, i+1)
	}
	fmt.Fprintf(&b, "Host *\n\tPort %s\n\tUser %s\n\tIdentityFile %s\n\tIdentitiesOnly yes\n\tUserKnownHostsFile %s\n\tGlobalKnownHostsFile none\n",
		port, sshd.User, sshd.KeyFile, known)
	config := write("ssh_config", b.String())
	inventory := write("inventory.yaml", fmt.Sprintf("version: 1\nhosts:\n  - {name: \"node[001-%03d]\", ssh_config: %s, tier: dev}\n", fleet, config))

	for _, way := range []string{"off", "require"} {
		t.Run("keeper "+way, func(t *testing.T) { mainCommand(t, home, inventory, way, fleet) })
	}
}

func mainCommand(t *testing.T, home, inventory, way string, fleet int) {
	fairlead := func(args ...string) (out, errOut bytes.Buffer) {
		cmd := exec.CommandContext(t.Context(), "fairlead", args...)
		cmd.Env = []string{gorace, "PATH=" + os.Getenv("PATH"), "HOME=" + home, "XDG_RUNTIME_DIR=" + home, "TERM=dumb", "FAIRLEAD_KEEPER=" + way}
		cmd.Stdout, cmd.Stderr = &out, &errOut
		require.NoError(t, cmd.Run(), errOut.String())
		return out, errOut
	}
	const command = "uname -a; echo warn >&2; cd /tmp"
	out, errOut := fairlead("-i", inventory, "run", "all", "--", command)
	assert.Equal(t, fleet, strings.Count(out.String(), " | Linux "), out.String())
	assert.Equal(t, fleet, strings.Count(errOut.String(), " | warn\n"), errOut.String())

	out, _ = fairlead("-i", inventory, "run", "all", "--json", "--", command)
	hosts := map[string]bool{}
	var last string
	for lines := bufio.NewScanner(&out); lines.Scan(); {
		last = lines.Text()
		var r struct {
			Host, Status, Cwd, Stdout, Stderr string
			ExitCode                          *int `json:"exit_code"`
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &r))
		if r.Host == "" {
			continue
		}
		hosts[r.Host] = true
		assert.Equal(t, "ok", r.Status, last)
		assert.Equal(t, "/tmp", r.Cwd, last)
		assert.Equal(t, "warn\n", r.Stderr, last)
		assert.Contains(t, r.Stdout, "Linux ", last)
		assert.Equal(t, new(int), r.ExitCode, last)
	}
	assert.Len(t, hosts, fleet)
	assert.Contains(t, last, `"counts":{"ok":100}`)
	if way == "require" {
		fairlead("serve", "--stop")
	}
	out, _ = fairlead("audit", "verify")
	assert.NotContains(t, out.String(), "without a result")
}

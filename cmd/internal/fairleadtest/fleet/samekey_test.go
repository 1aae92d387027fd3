package fleet_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/fairleadtest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

// Processes that meet a new host at the same time record its key once, hashed or not.
func TestProcessesThatRecordTheSameKeyWriteOneLine(t *testing.T) {
	sshd := sessiontest.OpenSSHD(t)
	for _, hash := range []string{"no", "yes"} {
		dir, _ := fairleadtest.KeeperHome(t)
		self := fairleadtest.Program(t, dir)
		text, err := os.ReadFile(sshd.Config)
		require.NoError(t, err)
		config, known := filepath.Join(dir, "config"), filepath.Join(dir, "known_hosts")
		require.NoError(t, os.WriteFile(config, []byte(fmt.Sprintf("Host *\nStrictHostKeyChecking accept-new\nHashKnownHosts %s\nUserKnownHostsFile %s\n%s", hash, known, text)), 0o600))
		require.NoError(t, os.WriteFile(known, []byte("other.example.com ssh-rsa unfinished"), 0o600))
		inventory := filepath.Join(dir, "inventory.yaml")
		require.NoError(t, os.WriteFile(inventory, []byte(fmt.Sprintf("version: 1\nhosts: [{name: sshd, ssh_config: %q, tier: dev}]\n", config)), 0o600))
		var wg sync.WaitGroup
		for range 6 {
			wg.Go(func() {
				cmd := exec.Command(self, "-i", inventory, "run", "sshd", "--", "echo in")
				cmd.Env = []string{fairleadtest.Gorace, "PATH=" + os.Getenv("PATH"), "HOME=" + dir, "XDG_RUNTIME_DIR=" + dir, "TERM=dumb", "SHELL=/bin/sh", "FAIRLEAD_KEEPER=off"}
				out, err := cmd.CombinedOutput()
				assert.NoError(t, err, "%s", out)
			})
		}
		wg.Wait()
		lines, err := os.ReadFile(known)
		require.NoError(t, err)
		assert.Equal(t, 2, strings.Count(string(lines), "\n"), "%s", lines)
		found, err := exec.Command("ssh-keygen", "-f", known, "-F", fmt.Sprintf("[127.0.0.1]:%d", sessiontest.Host(t, "", sshd.Addr).Port)).Output()
		require.NoError(t, err)
		assert.Equal(t, 1, strings.Count(string(found), "ssh-ed25519"), "%s", found)
	}
}

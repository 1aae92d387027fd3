package waits_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/fairleadtest"
	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

// Processes that connect to one busy server do not know of each other, and all their hosts get in.
func TestHostsOfSeveralProcessesAtOneBusyAddressAllGetIn(t *testing.T) {
	sshd := sessiontest.OpenSSHD(t, "MaxStartups 3:100:5")
	far := farAway(t, sshd.Addr, 50*time.Millisecond)
	dir, _ := fairleadtest.KeeperHome(t)
	self := fairleadtest.Program(t, dir)
	host, port, err := net.SplitHostPort(far)
	require.NoError(t, err)
	at := sessiontest.Host(t, "", sshd.Addr)
	config := filepath.Join(dir, "config")
	require.NoError(t, os.WriteFile(config, []byte(fmt.Sprintf("Host web*\nHostName %s\nPort %s\nUser %s\nIdentityFile %s\nIdentitiesOnly yes\nIdentityAgent none\nUserKnownHostsFile %s\nHostKeyAlias %s\nGlobalKnownHostsFile none\n",
		host, port, sshd.User, sshd.KeyFile, sshd.KnownHosts, knownhosts.Name(at.Addr, at.Port))), 0o600))
	inventory := filepath.Join(dir, "inventory.yaml")
	require.NoError(t, os.WriteFile(inventory, []byte(fmt.Sprintf("version: 1\ndefaults: {ssh_config: %q, tier: dev}\nhosts:\n  - name: web[01-20]\n", config)), 0o600))
	ctx, cancel := context.WithTimeout(t.Context(), fairleadtest.AwaitAtMost)
	defer cancel()
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			var out, errOut bytes.Buffer
			cmd := exec.CommandContext(ctx, self, "-i", inventory, "run", "web[01-20]", "--forks", "20", "--connect-timeout", "2m", "--", "echo in")
			cmd.Env = []string{fairleadtest.Gorace, "PATH=" + os.Getenv("PATH"), "HOME=" + dir, "XDG_RUNTIME_DIR=" + dir, "TERM=dumb", "SHELL=/bin/sh", "FAIRLEAD_KEEPER=off"}
			cmd.Stdout, cmd.Stderr = &out, &errOut
			assert.NoError(t, cmd.Run(), errOut.String())
			assert.Equal(t, 20, strings.Count(out.String(), "in\n"), "%s", errOut.String())
		})
	}
	wg.Wait()
	log, err := os.ReadFile(sshd.Log)
	require.NoError(t, err)
	busy := strings.Count(string(log), "past MaxStartups")
	assert.NotZero(t, busy, "the server was not too busy: nothing is shown")
	t.Logf("60 hosts: %d logins, %d times the server was too busy", strings.Count(string(log), "Accepted publickey"), busy)
}

// farAway is the address of a server that is some time away: each of its answers takes that long.
func farAway(t *testing.T, addr string, away time.Duration) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var wg sync.WaitGroup
	t.Cleanup(wg.Wait)
	t.Cleanup(func() { l.Close() })
	wg.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer near.Close()
				far, err := net.Dial("tcp", addr)
				if err != nil {
					return
				}
				defer far.Close()
				wg.Go(func() {
					_, _ = io.Copy(far, near)
					far.Close()
				})
				b := make([]byte, 32<<10)
				for {
					n, err := far.Read(b)
					time.Sleep(away)
					if _, werr := near.Write(b[:n]); err != nil || werr != nil {
						return
					}
				}
			})
		}
	})
	return l.Addr().String()
}

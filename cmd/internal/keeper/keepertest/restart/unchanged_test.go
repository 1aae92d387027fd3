package restart_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// trap is an address that counts who comes.
func trap(t *testing.T) (port int, visits *atomic.Int32) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	visits = &atomic.Int32{}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			visits.Add(1)
			c.Close()
		}
	}()
	return l.Addr().(*net.TCPAddr).Port, visits
}

// A login at another address would offer it the keys, so it is not enough that the command is not sent.
func TestAHostThatChangedBeforeTheApprovalIsNotDialed(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(l *lender, port int){
		"its address in the inventory": func(l *lender, port int) {
			edit(l.World, "inventory.yaml", `{name: dev1, tier: dev}`, fmt.Sprintf(`{name: dev1, tier: dev, addr: 127.0.0.1, port: %d}`, port))
		},
		"its account in the inventory": func(l *lender, _ int) {
			edit(l.World, "inventory.yaml", `{name: dev1, tier: dev}`, `{name: dev1, tier: dev, user: bot}`)
		},
		"a jump host": func(l *lender, _ int) {
			edit(l.World, "inventory.yaml", `{name: dev1, tier: dev}`, `{name: dev1, tier: dev, via: [staging1]}`)
		},
		"its port in ssh_config": func(l *lender, port int) {
			edit(l.World, "config", "Host *", fmt.Sprintf("Host dev1\n\tPort %d\nHost *", port))
		},
		"its key in ssh_config": func(l *lender, _ int) {
			edit(l.World, "config", "Host *", "Host dev1\n\tIdentityFile "+l.Dir+"/bot\nHost *")
		},
	} {
		t.Run(name, func(t *testing.T) {
			l := startLending(t, "")
			dir := filepath.Join(l.Dir, "box")
			require.NoError(t, os.Mkdir(dir, 0o700))
			var b wire.Sandbox
			status, p := l.API("", "POST", keepertest.SandboxesPath, wire.NewSandbox{Owner: "agent/claude", Host: "dev1", Path: dir}, &b)
			require.Equal(t, http.StatusCreated, status, p.Detail)
			made := filepath.Join(dir, "made")
			_, c := l.Post(wire.NewCommand{Sandbox: b.ID, Command: "touch " + made})
			require.Equal(t, "pending", c.Status, c.Reason)
			port, visits := trap(t)
			change(l, port)
			status, p = l.API("", "POST", keepertest.CommandsPath+"/"+c.ID+"/approve", nil, &c)
			require.Equal(t, http.StatusOK, status, p.Detail)
			assert.Equal(t, "rejected", c.Status)
			assert.Contains(t, c.Reason, "what was approved is not what would run now")
			assert.Zero(t, visits.Load())
			assert.NoFileExists(t, made)
		})
	}
}

// edit changes a file in the world's directory, and has an inventory read again.
func edit(w *keepertest.World, name, old, text string) {
	w.T.Helper()
	file := filepath.Join(w.Dir, name)
	data, err := os.ReadFile(file)
	require.NoError(w.T, err)
	require.Contains(w.T, string(data), old)
	changed := strings.Replace(string(data), old, text, 1)
	if name != "inventory.yaml" {
		require.NoError(w.T, os.WriteFile(file, []byte(changed), 0o600))
		return
	}
	// The inventory is followed: it has been read again when another host is there.
	changed = strings.Replace(changed, "hosts:\n", "hosts:\n  - {name: marker, transport: local}\n", 1)
	require.NoError(w.T, os.WriteFile(file, []byte(changed), 0o600))
	require.Eventually(w.T, func() bool {
		_, _, text := w.Send("GET", "/v1/hosts", "")
		return strings.Contains(text, "marker")
	}, time.Minute, 5*time.Millisecond)
}

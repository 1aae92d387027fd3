package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/mcpserver/mcptest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

// compareWith switches on the comparison with npm's ssh-mcp, which installs it: FAIRLEAD_COMPARE_SSH_MCP=1.
const compareWith = "FAIRLEAD_COMPARE_SSH_MCP"

// TestTheRepairCostsLittleMoreThanWithSSHMCP prints what the repair of repair_test.go costs a model, in characters, next to
// npm's ssh-mcp on the same server:
//
//	FAIRLEAD_COMPARE_SSH_MCP=1 go test ./cmd/internal/mcpserver -run SSHMCP -v
func TestTheRepairCostsLittleMoreThanWithSSHMCP(t *testing.T) {
	if os.Getenv(compareWith) == "" {
		t.Skip("it installs npm's ssh-mcp: set " + compareWith + "=1 to compare")
	}
	sshd := sessiontest.OpenSSHD(t)
	dir := mcptest.SSHMCP(t, "testdata/repair/compare.mjs", "testdata/repair/steps.json")
	p := newPlace(t, sshdInventory(sshd), "")
	p.host = "sshd"
	host, port, err := net.SplitHostPort(sshd.Addr)
	require.NoError(t, err)
	home := t.TempDir()
	config := filepath.Join(home, "config.toml")
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, `[defaults]
defaultProfile = "sshd"
[[profiles]]
name = "sshd"
host = %q
port = %s
user = %q
auth = "key"
keyRef = %q
role = "admin"
approvalPolicy = "auto"
`, host, port, sshd.User, sshd.KeyFile), 0o600))
	require.NoError(t, os.Chmod(home, 0o700))
	node, err := exec.LookPath("node")
	require.NoError(t, err)
	child := p.command("--allow-all")
	env := map[string]string{}
	for _, kv := range child.Env {
		k, v, _ := strings.Cut(kv, "=")
		env[k] = v
	}
	type program struct {
		Command string            `json:"command"`
		Args    []string          `json:"args"`
		Env     map[string]string `json:"env"`
	}
	plan, err := json.Marshal(map[string]any{
		"host": "sshd", "dir": map[string]string{"fairlead": brokenShop(t), "sshmcp": brokenShop(t)},
		"fairlead": program{child.Args[0], child.Args[1:], env},
		"sshmcp": program{node, []string{filepath.Join(dir, "node_modules/ssh-mcp/build/index.js"), "--config=" + config},
			map[string]string{"HOME": home, "PATH": os.Getenv("PATH")}},
	})
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), node, "compare.mjs", string(plan))
	cmd.Dir = dir
	out, err := cmd.Output()
	require.NoError(t, err, "%s", out)
	t.Logf("\n%s", out)
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	var cost struct {
		Theirs, Ours struct{ Sent, Text, Structured int }
	}
	require.NoError(t, json.Unmarshal([]byte(lines[len(lines)-1]), &cost))
	bar := 1.2 * float64(cost.Theirs.Sent+cost.Theirs.Text)
	require.LessOrEqual(t, float64(cost.Ours.Sent+cost.Ours.Text), bar, "text only")
	require.LessOrEqual(t, float64(cost.Ours.Sent+cost.Ours.Structured), bar, "structured only")
}

// brokenShop is a service's directory with a broken configuration.
func brokenShop(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(shortDir(t), "shop")
	require.NoError(t, os.Mkdir(dir, 0o755))
	for name, mode := range map[string]os.FileMode{"svcctl": 0o755, "shop.conf": 0o644, "shop.log": 0o644} {
		text, err := os.ReadFile(filepath.Join("testdata/repair", name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, mode))
	}
	return dir
}

// shortDir is a temporary directory with a short name, as directories on servers have.
func shortDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "srv")
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

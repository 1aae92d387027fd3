package mcpserver_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

// typescript installs the script and the official TypeScript SDK, at the versions that are pinned beside it. Where that
// cannot be done the test is skipped, or fails if the environment says CI=true.
func typescript(t *testing.T) (dir string) {
	t.Helper()
	cannot := t.Skipf
	if os.Getenv("CI") == "true" {
		cannot = t.Fatalf
	}
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			cannot("the official TypeScript SDK needs %s, which is not here", program)
		}
	}
	dir = t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json", "drive.mjs"} {
		text, err := os.ReadFile(filepath.Join("testdata", "ts", name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	cmd := exec.CommandContext(t.Context(), "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		cannot("npm cannot install the official TypeScript SDK: %v: %s", err, bytes.TrimSpace(out))
	}
	return dir
}

func TestTheOfficialTypeScriptClientDrivesIt(t *testing.T) {
	if testing.Short() {
		t.Skip("it installs packages")
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	dir := typescript(t)
	demo := "  - {name: \"demo[1-3]\", transport: demo, tier: dev}\n"
	for _, where := range []string{"here", "sshd"} {
		t.Run(where, func(t *testing.T) {
			inv := here + demo
			if where == "sshd" {
				inv = sshdInventory(sessiontest.OpenSSHD(t)) + demo
			}
			p := newPlace(t, inv, "")
			child := p.command("--allow-all")
			env := map[string]string{}
			for _, kv := range child.Env {
				k, v, _ := strings.Cut(kv, "=")
				env[k] = v
			}
			plan, err := json.Marshal(map[string]any{
				"command": child.Args[0], "args": child.Args[1:], "env": env, "host": where, "dir": t.TempDir(), "python": python,
				"fleet": "demo*," + where, "fleetNames": fmt.Sprintf("demo[1-3],%s", where),
			})
			require.NoError(t, err)
			cmd := exec.CommandContext(t.Context(), "node", "drive.mjs", string(plan))
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Contains(t, string(out), "done\n")
			t.Logf("%s", out)
		})
	}
}

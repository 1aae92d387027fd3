package mcpserver_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/mcpserver/mcptest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

func TestTheOfficialTypeScriptClientDrivesIt(t *testing.T) {
	if testing.Short() {
		t.Skip("it installs packages")
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		needs.Part(t, "no python3")
	}
	dir := mcptest.TypeScript(t, "testdata/drive.mjs")
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

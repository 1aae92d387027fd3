package keeper_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
)

// node installs what checks and uses the document, at the versions that are pinned in testdata/api, and puts the document
// of w beside it. Where that cannot be done the test is skipped, or fails if the environment says CI=true.
func node(t *testing.T, w *keepertest.World) (run func(argv ...string) string) {
	t.Helper()
	cannot := t.Skipf
	if os.Getenv("CI") == "true" {
		cannot = t.Fatalf
	}
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			cannot("clients in TypeScript need %s, which is not here", program)
		}
	}
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "api"))))
	cmd := exec.CommandContext(t.Context(), "npm", "ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		cannot("npm cannot install what clients in TypeScript need: %v: %s", err, bytes.TrimSpace(out))
	}
	status, _, text := w.Send("GET", "/openapi.json", "")
	require.Equal(t, http.StatusOK, status)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "openapi.json"), []byte(text), 0o600))
	return func(argv ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "NODE_EXTRA_CA_CERTS="+w.Cfg.TCP.CertFile)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%v: %s", argv[:2], out)
		return string(out)
	}
}

func TestAClientMadeFromTheDocumentGoesThroughSandboxesAndApprovals(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it installs packages")
	}
	r := keepertest.StartTCP(t)
	run := node(t, r.World)
	assert.Equal(t, "valid\n", run("node", "validate.mjs"))
	run("node", "node_modules/openapi-typescript/bin/cli.js", "openapi.json", "-o", "api.ts")
	run("node", "node_modules/typescript/bin/tsc", "-p", ".")

	dir, err := filepath.EvalSymlinks(r.Dir)
	require.NoError(t, err)
	dir = filepath.Join(dir, "box")
	require.NoError(t, os.Mkdir(dir, 0o700))
	plan, err := json.Marshal(map[string]any{
		"url": r.Url, "host": "there", "dir": dir, "tokens": map[string]string{
			"admin": r.Token("operator/bob", "admin"), "agent": r.Token("agent/claude", "agent"), "approver": r.Token("operator/carol", "approver"),
		},
	})
	require.NoError(t, err)
	assert.Equal(t, "done\n", run("node", "cycle.js", string(plan)))
	assert.FileExists(t, filepath.Join(dir, "made"))
}

// Package mcptest has what tests need that drive a server with a client which is not ours.
package mcptest

import (
	"bytes"
	"embed"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// pinned says which versions of the SDK and of ssh-mcp, and of what they need.
//
//go:embed ts sshmcp
var pinned embed.FS

// TypeScript installs the official TypeScript SDK in a directory of the test's, with a copy of script beside it. Where that
// cannot be done the test is skipped, or fails if the environment says CI=true.
func TypeScript(t *testing.T, script string) (dir string) {
	t.Helper()
	return install(t, "ts", "the official TypeScript SDK", script)
}

// SSHMCP is TypeScript with npm's ssh-mcp besides.
func SSHMCP(t *testing.T, scripts ...string) (dir string) {
	t.Helper()
	return install(t, "sshmcp", "npm's ssh-mcp", scripts...)
}

func install(t *testing.T, from, what string, scripts ...string) (dir string) {
	t.Helper()
	cannot := t.Skipf
	if os.Getenv("CI") == "true" {
		cannot = t.Fatalf
	}
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			cannot("%s needs %s, which is not here", what, program)
		}
	}
	dir = t.TempDir()
	write := func(name string, text []byte, err error) {
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	for _, name := range []string{"package.json", "package-lock.json"} {
		text, err := pinned.ReadFile(from + "/" + name)
		write(name, text, err)
	}
	for _, script := range scripts {
		text, err := os.ReadFile(script)
		write(filepath.Base(script), text, err)
	}
	cmd := exec.CommandContext(t.Context(), "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		cannot("npm cannot install %s: %v: %s", what, err, bytes.TrimSpace(out))
	}
	return dir
}

package sessiontest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// embedder runs the go command in the module of a program that embeds Fairlead, on a machine of its own.
func embedder(t *testing.T, env []string, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = filepath.Join("testdata", "embed")
	// With the flags of whoever tests, what was compiled with them serves here too; but for where modules come from.
	flags := slices.DeleteFunc(strings.Fields(os.Getenv("GOFLAGS")), func(flag string) bool { return strings.HasPrefix(flag, "-mod=") })
	cmd.Env = append(append(os.Environ(), "GOFLAGS="+strings.Join(append(flags, "-mod=readonly"), " "), "GOWORK=off"), env...)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "go %v:\n%s", args, out)
	return string(out)
}

// The examples of whole programs are right: they build where embedders build, and do what they say.
func TestProgramsThatEmbedFairlead(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds programs")
	}
	if needs.Detector {
		t.Skip("the programs are built without the detector, as ever")
	}
	embedder(t, nil, "vet", "./...")
	for _, system := range []string{"windows", "darwin"} {
		embedder(t, []string{"GOOS=" + system, "CGO_ENABLED=0"}, "build", "-o", os.DevNull, "./...")
	}
	embedder(t, nil, "test", "./...")

	t.Run("state", func(t *testing.T) {
		assert.Equal(t, "state: hello from /tmp\ndir and env: good bye from /\nstdin: 3\nprompt: true\ntimeout: true\nafter it: hello again from /tmp\n",
			embedder(t, nil, "run", "./state"))
	})
	t.Run("fleet", func(t *testing.T) {
		inventory := filepath.Join(t.TempDir(), "inventory.yaml")
		require.NoError(t, os.WriteFile(inventory, []byte(`version: 1
defaults: {tier: dev}
hosts:
  - {name: here, transport: local}
  - {name: "demo[1-2]", transport: demo}
`), 0o600))
		out := embedder(t, nil, "run", "./fleet", inventory, "all", "printf 'no newline'")
		for _, name := range []string{"here", "demo1", "demo2"} {
			assert.Contains(t, out, name+" | no newline\n")
		}
	})
}

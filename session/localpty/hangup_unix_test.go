//go:build unix

package localpty_test

import (
	"os"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/localpty"
)

// A keeper may be started with nohup. Were hangups ignored in its shells, a command that never ends would outlive it.
func TestProgramsHearOfHangupsWhoeverIgnoresThem(t *testing.T) {
	const name = "FAIRLEAD_TEST_HANGUPS_IGNORED"
	if os.Getenv(name) == "" {
		cmd := exec.Command("sh", "-c", `trap '' HUP; exec "$0" "$@"`, os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), name+"=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		assert.Contains(t, string(out), "--- PASS: "+t.Name())
		return
	}
	s, err := local(t, localpty.Config{}).Open(t.Context(), session.Program{Line: `trap 'echo "heard it"' HUP; kill -HUP $$; echo .end`})
	require.NoError(t, err)
	assert.Contains(t, until(t, s, ".end"), "heard it")
	self, err := os.FindProcess(os.Getpid())
	require.NoError(t, err)
	require.NoError(t, self.Signal(syscall.SIGHUP), "it goes on")
}

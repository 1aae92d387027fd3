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

// A keeper may be started with nohup, or behind an & in a script. Were hangups ignored in its shells, a command that never
// ends would outlive it; were interrupts, none could be stopped.
func TestProgramsHearOfSignalsWhoeverIgnoresThem(t *testing.T) {
	signals := map[string]syscall.Signal{"HUP": syscall.SIGHUP, "INT": syscall.SIGINT}
	const variable = "FAIRLEAD_TEST_SIGNAL_IGNORED"
	if name := os.Getenv(variable); name != "" {
		s, err := local(t, localpty.Config{}).Open(t.Context(), session.Program{Line: `trap 'echo "heard it"' ` + name + `; kill -` + name + ` $$; echo .end`})
		require.NoError(t, err)
		assert.Contains(t, until(t, s, ".end"), "heard it")
		self, err := os.FindProcess(os.Getpid())
		require.NoError(t, err)
		require.NoError(t, self.Signal(signals[name]), "it goes on")
		return
	}
	for name := range signals {
		cmd := exec.Command("sh", "-c", `trap '' `+name+`; exec "$0" "$@"`, os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), variable+"="+name)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		assert.Contains(t, string(out), "--- PASS: "+t.Name())
	}
}

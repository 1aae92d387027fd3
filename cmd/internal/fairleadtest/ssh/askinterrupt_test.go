package ssh_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/fairleadtest"
)

// ^C at a question stops the command everywhere, and nothing is left of the question for the next one.
func TestInterruptAtAQuestionAboutAKeyStopsTheCommand(t *testing.T) {
	inPlaceOfSSH(t, func(a *asSSH) {
		require.NoError(t, os.WriteFile(a.sshd.KnownHosts, nil, 0o600))
		ran := filepath.Join(a.dir, "ran")
		for _, words := range [][]string{{"run", "sshd", "--", "touch " + ran}, {"exec", "sshd", "--", "touch " + ran}, {"ssh", "sshd", "touch " + ran}} {
			cmd := exec.Command(a.fairlead(), words...)
			cmd.Env, cmd.Dir = a.env, a.dir
			code, out, errOut, screen := fairleadtest.TypeAt(t, cmd, true, "of this command) ", "\x03")
			assert.Equal(t, 130, code, "%q: %s%s%s", words, out, errOut, screen)
			assert.NoFileExists(t, ran)
		}
		text, err := os.ReadFile(a.sshd.KnownHosts)
		require.NoError(t, err)
		assert.Empty(t, text)
		cmd := exec.Command(a.fairlead(), "run", "sshd", "--", "touch "+ran)
		cmd.Env, cmd.Dir = a.env, a.dir
		code, _, errOut, _ := fairleadtest.TypeAt(t, cmd, true, "of this command) ", "yes\n")
		assert.Zero(t, code, errOut)
		assert.FileExists(t, ran)
	})
}

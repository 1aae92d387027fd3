package ssh_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A server that gives no terminal is of use nevertheless, with the keeper and without.
func TestAHostWithoutTerminalsRunsCommandsAndTakesFiles(t *testing.T) {
	inPlaceOfSSH(t, func(a *asSSH) {
		fairlead := filepath.Join(a.dir, "bin", "fairlead")
		r := a.run("", fairlead, "run", "sshd", "--", "echo out; echo err >&2; exit 3")
		assert.Equal(t, 3, r.Code, r.Err)
		assert.Contains(t, r.Out, "out")
		assert.Contains(t, r.Err+r.Out, "err")
		assert.Equal(t, "out\n", a.ok(fairlead, "exec", "sshd", "--", "echo out"))
		assert.Equal(t, "in", a.run("in", fairlead, "run", "sshd", "--stdin", "--", "cat").Out)
		assert.Contains(t, a.ok(fairlead, "run", "sshd", "--json", "--", "true"), `"stderr_mode":"channel"`)

		for _, words := range [][]string{
			{"exec", "-s", "build", "sshd", "--", "true"},
			{"jobs", "start", "sshd", "--", "sleep", "9"},
		} {
			if words[0] == "exec" && slices.Contains(a.env, "FAIRLEAD_KEEPER=off") {
				continue // sessions live in the keeper
			}
			r := a.run("", fairlead, words...)
			assert.NotZero(t, r.Code, "%q", words)
			assert.Contains(t, r.Err+r.Out, "PermitTTY is off, or the key has no-pty or restrict", "%q", words)
			assert.Contains(t, r.Err+r.Out, "single commands do not: use run", "%q", words)
		}
		r = a.run("", fairlead, "shell", "sshd")
		assert.NotZero(t, r.Code)

		file := filepath.Join(a.dir, "file")
		require.NoError(t, os.WriteFile(file, []byte("text\x00"), 0o600))
		a.ok(fairlead, "cp", file, "sshd:"+filepath.Join(a.dir, "copy"))
		text, err := os.ReadFile(filepath.Join(a.dir, "copy"))
		require.NoError(t, err)
		assert.Equal(t, "text\x00", string(text))

		r = a.run("", fairlead, "doctor", "sshd")
		assert.Contains(t, r.Out, "the server gives no terminal", r.Err)
	}, "PermitTTY no")
}

package session_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
)

// A program with exact arguments is that program: nothing that the session has set takes its name, and no builtin does.
func TestAProgramIsNoFunctionAliasOrBuiltin(t *testing.T) {
	eachShell(t, func(t *testing.T, tr session.Transport, shell string) {
		s := asAgent(t, tr, shell)
		dir := t.TempDir()
		run := func(words ...string) session.Result {
			script, err := session.Words(words...)
			require.NoError(t, err)
			r, _ := s.Run(t.Context(), session.Command{Script: script, Program: true})
			return r
		}
		_, err := s.Run(t.Context(), session.Command{Script: "cd " + dir})
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, "a b"), nil, 0o600))
		r := run("ls", "a b", "$HOME", "*")
		assert.Equal(t, "a b\n", string(r.Stdout))
		assert.Equal(t, 2, *r.ExitCode)

		mark := filepath.Join(dir, "mark")
		for _, poison := range []string{
			"alias ls='touch " + mark + "' env='touch " + mark + "' 2>/dev/null; shopt -s expand_aliases 2>/dev/null; setopt aliases 2>/dev/null; true",
			"ls() { touch " + mark + "; }; env() { touch " + mark + "; }",
			"PATH=/nonexistent; export PATH",
		} {
			_, err = s.Run(t.Context(), session.Command{Script: poison})
			require.NoError(t, err, poison)
			r = run("ls", "a b")
			assert.Equal(t, "a b\n", string(r.Stdout), "after %s: %+v", poison, r.Err)
			assert.Equal(t, "clean", r.Lane)
			assert.NoFileExists(t, mark)
		}
		for _, builtin := range []string{"cd", "export", "set", "exit", "eval", "."} {
			r = run(builtin, "/")
			assert.NotEqual(t, session.StatusOK, r.Status, builtin)
			assert.Equal(t, dir, s.Dir(), builtin)
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, "x"), nil, 0o600))
		r = run("test", "-e", "x")
		assert.Equal(t, session.StatusOK, r.Status, "%+v", r)
	})
}

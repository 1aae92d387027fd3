package session_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
)

// A command's own directory and variables hold for it alone, in every shell, whatever they are called.
func TestACommandsDirAndEnvAreItsOwn(t *testing.T) {
	onEveryShell(t, func(t *testing.T, s *session.Session) {
		odd := filepath.Join(t.TempDir(), "-a 'b\n$(c)")
		require.NoError(t, os.MkdirAll(filepath.Join(odd, "-"), 0o755))
		run := func(cmd session.Command) session.Result {
			t.Helper()
			r, err := s.Run(t.Context(), cmd)
			require.NoError(t, err)
			return r
		}
		run(session.Command{Script: "cd /; A=outer; export A"})
		r := run(session.Command{
			Script: "pwd; printf '%s|' \"$A\" \"$B\"; A=inner; cd /; exit 7 # a comment", Dir: odd, Env: []string{"A=it's $HOME\n", "B="},
		})
		assert.Equal(t, odd+"\nit's $HOME\n||", string(r.Stdout))
		assert.Equal(t, 7, *r.ExitCode)
		assert.Equal(t, "/", r.Dir)
		assert.False(t, r.ShellRestarted)
		r = run(session.Command{Script: "echo $A ${B-unset}; pwd"})
		assert.Equal(t, "outer unset\n/\n", string(r.Stdout))
		assert.False(t, r.ShellRestarted)

		r = run(session.Command{Script: "pwd", Dir: strings.TrimPrefix(odd, "/")})
		assert.Equal(t, odd+"\n", string(r.Stdout), "a relative one is below the session's")
		assert.Contains(t, r.Command, strings.TrimPrefix(odd, "/")[:5], "what was recorded says it")
		r = run(session.Command{Script: "echo never", Dir: odd + "/nosuch"})
		assert.Empty(t, string(r.Stdout))
		assert.NotZero(t, *r.ExitCode)
		assert.NotEmpty(t, r.Stderr)
		r = run(session.Command{Script: ") ; echo out; (", Dir: "/"})
		assert.NotContains(t, string(r.Stdout), "out", "it does not leave the subshell")
		r = run(session.Command{Script: "--help", Dir: "/"})
		assert.Equal(t, 127, *r.ExitCode, "%s%s", r.Stdout, r.Stderr)
		r = run(session.Command{Script: "cat <<X\nbody", Env: []string{"A=1"}})
		assert.NotContains(t, string(r.Stdout), "eval")
	})
}

func TestADirOrEnvThatCannotBeIsRefused(t *testing.T) {
	onEveryShell(t, func(t *testing.T, s *session.Session) {
		for name, cmd := range map[string]session.Command{
			"no name":          {Script: "true", Env: []string{"=x"}},
			"no value":         {Script: "true", Env: []string{"A"}},
			"code for a name":  {Script: "true", Env: []string{"A;reboot=1"}},
			"a digit first":    {Script: "true", Env: []string{"1A=1"}},
			"a NUL in a value": {Script: "true", Env: []string{"A=\x00"}},
			"a NUL in a dir":   {Script: "true", Dir: "/\x00"},
			"with a program":   {Script: "true", Dir: "/", Program: true},
		} {
			r, err := s.Run(t.Context(), cmd)
			require.ErrorIs(t, err, session.ErrInvalid, name)
			assert.Equal(t, "invalid", r.Err.Code, name)
			assert.False(t, r.Err.Sent, name)
			assert.NotContains(t, err.Error(), "reboot")
			assert.NotContains(t, err.Error(), "framing")
			if strings.HasPrefix(name, "a NUL in a") {
				assert.NotContains(t, err.Error(), "the command", "it is named where the byte is")
			}
		}
	})
}

package session_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
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

// What is no list of words is not run: it would be source, or env(1) alone, which shows the environment.
func TestAProgramIsWordsAndNothingElse(t *testing.T) {
	d := sessiontest.NewDialer(t)
	d.OnFunc("*", func(*sessiontest.Call) sessiontest.Reply { return sessiontest.Reply{} })
	s := scriptedSession(t, d)
	for _, script := range []string{
		"", " ", "# x", "ls; id", "ls $HOME", "ls  a", " ls", "ls ", "\\ls *", "ls", "'ls'", "\\ls 'a", "\\ls \"a\"", "\\ls a\nid", "\\\\ls", "A=b ls", "\\-S 'rm x'", "'A=b' ls", "''",
	} {
		_, err := s.Run(t.Context(), session.Command{Script: script, Program: true})
		assert.ErrorIs(t, err, session.ErrInvalid, "%q", script)
	}
	for _, words := range [][]string{{"ls"}, {"/bin/ls", "a b", "'", "", "x'y'", "''", "$HOME\n*", "\\", "-", "\xff"}, {"it's"}, {"'"}, {"[", "x", "]"}, {"%x"}} {
		script, err := session.Words(words...)
		require.NoError(t, err)
		_, err = s.Run(t.Context(), session.Command{Script: script, Program: true})
		assert.NoError(t, err, "%q", words)
	}
}

func TestAnInteractiveCommandRefusesStandardInput(t *testing.T) {
	d := sessiontest.NewDialer(t)
	_, err := scriptedSession(t, d).Run(t.Context(), session.Command{Script: "cat", Interactive: true, Stdin: strings.NewReader("x")})
	assert.ErrorIs(t, err, session.ErrInvalid)
	assert.ErrorContains(t, err, "Exec.Input types")
}

// scriptedSession returns a session on a scripted host.
func scriptedSession(t *testing.T, d *sessiontest.Dialer) *session.Session {
	t.Helper()
	p, err := session.NewPool(session.PoolConfig{Dial: d.Dial, Session: session.Config{Policy: policy.AllowAll, Audit: audit.Discard{}}})
	require.NoError(t, err)
	t.Cleanup(func() { p.Close() })
	s, err := p.Open(hosts.Host{Name: "web1"})
	require.NoError(t, err)
	return s
}

func TestATransportIsNeeded(t *testing.T) {
	cfg := session.Config{Policy: policy.AllowAll, Audit: audit.Discard{}}
	_, err := session.Open(nil, hosts.Host{Name: "web1"}, cfg)
	assert.ErrorContains(t, err, "needs a Transport")
	p, err := session.NewPool(session.PoolConfig{Session: cfg, Dial: func(context.Context, hosts.Host) (session.Transport, error) { return nil, nil }})
	require.NoError(t, err)
	defer p.Close()
	_, err = p.Run(t.Context(), hosts.Host{Name: "web1"}, session.Command{Script: "true"})
	assert.ErrorContains(t, err, "neither a Transport nor an error")
	assert.ErrorIs(t, err, session.ErrUnreachable)
}

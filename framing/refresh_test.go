package framing_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/framing"
)

func TestAShellForgetsWhereProgramsAre(t *testing.T) {
	eachShell(t, []string{"perl"}, func(t *testing.T, sh framing.Shell) {
		bin := t.TempDir()
		program := func(dir, says string) string {
			require.NoError(t, os.MkdirAll(filepath.Join(bin, dir), 0o700))
			path := filepath.Join(bin, dir, "prog")
			require.NoError(t, os.WriteFile(path, []byte("#!/bin/sh\necho "+says+"\n"), 0o700))
			return path
		}
		first := program("b", "old")
		sh.Env = append(sh.Env, "PATH="+bin+"/a:"+bin+"/b:"+os.Getenv("PATH"))
		s := start(t, sh)
		assert.Equal(t, "old\n", s.output("prog"))
		program("a", "new")
		require.NoError(t, os.Remove(first))
		text := s.output(framing.RefreshScript(s.hello.Dialect))
		assert.False(t, framing.Redefined(text, ""), "%q", text)
		assert.Equal(t, "new\n", s.output("prog"))
		assert.Equal(t, "unset\n", s.output("unset PATH; " + framing.RefreshScript(s.hello.Dialect) + "\necho ${PATH-unset}")[len(s.output(framing.RefreshScript(s.hello.Dialect))):])
	})
}

func TestFunctionsOfTheAccountsOwnAreSeen(t *testing.T) {
	eachShell(t, []string{"perl"}, func(t *testing.T, sh framing.Shell) {
		sh.Prelude = "ours() { :; }\n"
		s := start(t, sh)
		text := s.output(framing.RefreshScript(s.hello.Dialect))
		assert.False(t, framing.Redefined(text, sh.Prelude), "%q", text)
		s.ok("uname() { :; }")
		text = s.output(framing.RefreshScript(s.hello.Dialect))
		if s.hello.Dialect != framing.Bash { // they take none from the environment
			assert.Empty(t, text)
			return
		}
		assert.True(t, framing.Redefined(text, sh.Prelude), "%q", text)
		s.ok("unset -f uname")
		text = s.output(framing.RefreshScript(s.hello.Dialect))
		assert.False(t, framing.Redefined(text, sh.Prelude), "%q", text)
		assert.True(t, framing.Redefined(text, ""), "%q", text)
	})
}

// What would define functions where it is read: a shell that is no login shell reads none of it.
func TestNoStartFileIsRead(t *testing.T) {
	eachShell(t, []string{"perl"}, func(t *testing.T, sh framing.Shell) {
		dir := t.TempDir()
		env := append(os.Environ(), "SHELL=/bin/sh", "HOME="+dir, "ZDOTDIR="+dir, "ENV="+dir+"/env", "BASH_ENV="+dir+"/env")
		for _, name := range []string{"env", ".zshenv", ".zshrc", ".bashrc", ".bash_profile", ".profile", ".kshrc", ".mkshrc"} {
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("uname() { :; }\nalias uname=false\n"), 0o600))
		}
		s := startAs(t, account{env: env}, sh)
		assert.Contains(t, s.output("uname"), "Linux")
	})
}

func TestWhatBashMayPrintOfItself(t *testing.T) {
	for text, want := range map[string]bool{
		"":                                     false,
		"declare -f _fl_F\ndeclare -f _fl_R\n": false,
		"declare -f git\n":                     false,
		"declare -f gi\n":                      true,
		"declare -f it\n":                      true,
		"declare -f uname\n":                   true,
		"declare -fx git\n":                    true,
		"\n":                                   true,
		"late output of a program":             true,
	} {
		assert.Equal(t, want, framing.Redefined(text, "git() { :; }\n"), "%q", text)
	}
}

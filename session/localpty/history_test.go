//go:build unix

package localpty_test

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/localpty"
)

// A shell that a command yields has a terminal and so a history, which it may write to a file.
func TestWhatIsTypedAtAShellIsInNoHistory(t *testing.T) {
	for name, c := range map[string]struct {
		argv  []string
		files map[string]string
		env   []string
	}{
		"bash":        {argv: []string{"bash"}},
		"busybox ash": {argv: []string{"busybox", "ash"}},
		"dash":        {argv: []string{"dash"}},
		"fish":        {argv: []string{"fish"}},
		"mksh":        {argv: []string{"mksh"}, env: []string{"HISTFILE=history"}},
		"tcsh":        {argv: []string{"tcsh"}, files: map[string]string{".tcshrc": "set history=100 savehist=100\n"}},
		"zsh":         {argv: []string{"zsh"}, files: map[string]string{".zshrc": "HISTFILE=~/history HISTSIZE=100 SAVEHIST=100\n"}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(c.argv[0]); err != nil {
				require.Empty(t, os.Getenv("CI"), "%s is needed", c.argv[0])
				t.Skipf("%s is not installed", c.argv[0])
			}
			home := t.TempDir()
			for name, text := range c.files {
				require.NoError(t, os.WriteFile(filepath.Join(home, name), []byte(text), 0o600))
			}
			tr := local(t, localpty.Config{Command: c.argv, Dir: home, Env: append(c.env, "HOME="+home, "PATH="+os.Getenv("PATH"))})
			s, err := tr.Open(t.Context(), session.Program{Line: `exec sh -c 'printf he%s. re; read -r x'`})
			require.NoError(t, err)
			until(t, s, "here.")
			require.NoError(t, s.Close())
			require.NoError(t, filepath.WalkDir(home, func(path string, e fs.DirEntry, err error) error {
				if err != nil || e.IsDir() {
					return err
				}
				text, err := os.ReadFile(path)
				for _, ours := range []string{"exec sh -c", "unset HISTFILE"} {
					assert.False(t, strings.Contains(string(text), ours), "%s holds %q", filepath.Base(path), ours)
				}
				return err
			}))
		})
	}
}

// A start file may fix HISTFILE: most shells then give up the rest of a line at unset.
func TestAShellWhoseHistoryIsFixedIsTypedAtAllTheSame(t *testing.T) {
	const fixed = "readonly HISTFILE=history\n"
	for name, c := range map[string]struct {
		argv []string
		rc   string
		env  []string
	}{
		"bash":        {[]string{"bash", "--rcfile", "rc"}, fixed, nil},
		"busybox ash": {[]string{"busybox", "ash"}, fixed, []string{"ENV=./rc"}},
		"dash":        {[]string{"dash"}, fixed, []string{"ENV=./rc"}},
		"ksh93":       {[]string{"ksh93"}, fixed, []string{"ENV=./rc"}},
		"mksh":        {[]string{"mksh"}, fixed, []string{"ENV=./rc"}},
		"zsh":         {[]string{"zsh"}, fixed, nil},
		"strict bash": {[]string{"bash", "--rcfile", "rc"}, "set -eu\n", nil},
		"strict dash": {[]string{"dash"}, "set -eu\n", []string{"ENV=./rc"}},
		"strict zsh":  {[]string{"zsh"}, "set -eu\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := exec.LookPath(c.argv[0]); err != nil {
				require.Empty(t, os.Getenv("CI"), "%s is needed", c.argv[0])
				t.Skipf("%s is not installed", c.argv[0])
			}
			home := t.TempDir()
			for _, name := range []string{"rc", ".zshrc"} {
				require.NoError(t, os.WriteFile(filepath.Join(home, name), []byte(c.rc), 0o600))
			}
			tr := local(t, localpty.Config{Command: c.argv, Dir: home, Env: append(c.env, "HOME="+home, "PATH="+os.Getenv("PATH"))})
			s, err := tr.Open(t.Context(), session.Program{Line: `exec sh -c 'printf he%s. re; read -r x'`})
			require.NoError(t, err)
			until(t, s, "here.")
			require.NoError(t, s.Close())
		})
	}
}

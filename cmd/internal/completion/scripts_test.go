package completion_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/spf13/cobra"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/completion"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// script is what "fairlead completion SHELL" prints.
func script(t *testing.T, shell string) string {
	t.Helper()
	var out bytes.Buffer
	root := &cobra.Command{Use: "fairlead"}
	root.AddCommand(&cobra.Command{Use: "run", Run: func(*cobra.Command, []string) {}})
	root.SetOut(&out)
	completion.Scripts(root)
	root.SetArgs([]string{"completion", shell})
	require.NoError(t, root.Execute())
	return out.String()
}

func TestScriptsOfAllShellsAreThere(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		text := script(t, shell)
		assert.Contains(t, text, "__complete", shell)
		assert.NotContains(t, text, "eval ${requestComp}", shell)
	}
}

// A person at a real shell presses Tab behind a command that is for a host: nothing of it runs here, no redirect is opened, and
// the program gets the words as the shell would have given them.
func TestTabRunsNothingOfWhatWasTyped(t *testing.T) {
	type typed struct{ line, want string }
	all := []typed{
		{`fairlead run w1 -- 'x; touch pwned' `, `[__complete][run][w1][--][x; touch pwned][]`},
		{`fairlead run w1 -- "x; touch pwned" `, `[__complete][run][w1][--][x; touch pwned][]`},
		{`fairlead run w1 -- x \; touch pwned `, `[__complete][run][w1][--][x][;][touch][pwned][]`},
		{`fairlead run w1 -- '$(touch pwned)' `, `[__complete][run][w1][--][$(touch pwned)][]`},
		{`fairlead run 'w1 & w2' -x '(touch pwned)' --f`, `[__complete][run][w1 & w2][-x][(touch pwned)][--f]`},
		{`fairlead run a\ b "c \"d\"" --keeper=o`, `[__complete][run][a b][c "d"][--keeper=o]`},
		{`fairlead -i ~/inv run `, `[__complete][-i][HOME/inv][run][]`},
		{`fairlead run w1 -- $(touch pwned) `, ""},
		{`fairlead run @web,role=x`, `[__complete][run][@web,role=x]`},
		{`fairlead ru`, `[__complete][ru]`},
		{`fairlead run 'web`, `[__complete][run][web]`},
		{`fairlead run "w1, web`, `[__complete][run][w1, web]`},
	}
	posix := []typed{
		{"fairlead run w1 -- `touch pwned` ", ""},
		{`fairlead -i $INV "$INV" ${INV} '$INV' `, `[__complete][-i][in v][in v][in v][$INV][]`},
		{`fairlead run w1 -- hi > keep --f`, `[__complete][run][w1][--][hi][--f]`},
	}
	for shell, start := range map[string]struct {
		args  []string
		lines []typed
		setup string
	}{
		"bash": {[]string{"--norc", "--noprofile"}, append(posix, all...), "bind 'set enable-bracketed-paste off'; "},
		"zsh":  {[]string{"-f"}, append(posix, all...), "autoload -U compinit; compinit -u -D; "},
		"fish": {[]string{"--no-config"}, append([]typed{{`fairlead run w1 -- (touch pwned) `, ""}}, all...), ""},
	} {
		t.Run(shell, func(t *testing.T) {
			program, err := exec.LookPath(shell)
			if err != nil {
				needs.Part(t, "%s is not installed", shell)
			}
			dir := t.TempDir()
			at := func(name string) string { return filepath.Join(dir, name) }
			require.NoError(t, os.WriteFile(at("script"), []byte(script(t, shell)), 0o600))
			fake := "#!/bin/sh\nfor a in \"$@\"; do printf '[%s]' \"$a\"; done >>\"$ROOM/log\"\necho >>\"$ROOM/log\"\n" +
				"case $3 in '@w & @c') echo '@w & @canary';; esac\necho :4\n"
			require.NoError(t, os.WriteFile(at("fairlead"), []byte(fake), 0o700))
			cmd := exec.Command(program, start.args...)
			cmd.Dir = dir
			cmd.Env = []string{"PATH=" + dir + ":/usr/bin:/bin", "HOME=" + dir, "TERM=dumb", "ROOM=" + dir, "INV=in v"}
			terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 40, Cols: 200})
			require.NoError(t, err)
			var shown bytes.Buffer
			read := make(chan struct{})
			go func() { defer close(read); _, _ = shown.ReadFrom(terminal) }()
			defer func() {
				_ = cmd.Process.Kill()
				_ = cmd.Wait()
				terminal.Close()
				<-read
				if t.Failed() {
					t.Log(shown.String())
				}
			}()
			send := func(text string) { _, err := terminal.WriteString(text); require.NoError(t, err) }
			seen := func(name string) string { b, _ := os.ReadFile(at(name)); return string(b) }
			send(start.setup + ". ./script; echo >ready\r")
			require.Eventually(t, func() bool { _, err := os.Stat(at("ready")); return err == nil }, 30*time.Second, 20*time.Millisecond)
			for _, typed := range start.lines {
				require.NoError(t, os.WriteFile(at("keep"), []byte("kept"), 0o600))
				require.NoError(t, os.WriteFile(at("log"), nil, 0o600))
				send("\x15" + typed.line + "\t")
				require.Eventually(t, func() bool { return strings.Contains(seen("log"), "\n") }, 30*time.Second, 20*time.Millisecond, typed.line)
				if typed.want != "" {
					line, _, _ := strings.Cut(seen("log"), "\n")
					assert.Equal(t, strings.ReplaceAll(typed.want, "HOME", dir), line, typed.line)
				}
				assert.NoFileExists(t, at("pwned"), typed.line)
				assert.Equal(t, "kept", seen("keep"), typed.line)
			}
			if shell == "bash" {
				require.NoError(t, os.WriteFile(at("log"), nil, 0o600))
				send("\x15fairlead run '@w & @c\t\r")
				require.Eventually(t, func() bool { return strings.Count(seen("log"), "\n") > 1 }, 30*time.Second, 20*time.Millisecond)
				assert.Contains(t, seen("log"), "\n[run][@w & @canary]\n", "what is between quotes has no backslashes")
			}
		})
	}
}

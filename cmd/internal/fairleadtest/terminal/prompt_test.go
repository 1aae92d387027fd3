package terminal_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/fairleadtest"
)

// A person types commands for three hosts, goes on with those where one failed, and interrupts another.
func TestAPromptRunsWhatIsTypedOnManyHosts(t *testing.T) {
	t.Parallel()
	dir, _ := fairleadtest.KeeperHome(t)
	inventory := filepath.Join(dir, "inventory.yaml")
	require.NoError(t, os.WriteFile(inventory, []byte("version: 1\nhosts: [{name: \"web[1-3]\", transport: demo, tier: dev}]\n"), 0o600))
	self := fairleadtest.Program(t, dir)
	bin := t.TempDir() // its sudo tells whom it was to become, and the account stays
	require.NoError(t, os.WriteFile(filepath.Join(bin, "sudo"), []byte("#!/bin/sh\nAS=\nwhile test \"$1\" != --; do AS=\"$AS $1\"; shift; done\nshift\nexport AS\nexec \"$@\"\n"), 0o700))
	for _, mode := range []string{"off", "require"} {
		once := filepath.Join(dir, "once-"+mode) // that one of three can make: they share this machine
		env := []string{fairleadtest.Gorace, "PATH=" + bin + ":" + os.Getenv("PATH"), "HOME=" + dir, "SHELL=/bin/sh", "XDG_RUNTIME_DIR=" + dir, "LANG=C.UTF-8", "TERM=xterm", "NO_COLOR=1"}
		cmd := exec.Command(self, "-i", inventory, "--keeper", mode, "run", "web[1-3]")
		cmd.Env = env
		screen := fairleadtest.SitAt(t, cmd, []string{
			"3 hosts> ", "mkdir " + once + "\r",
			"3 hosts, 2 failed> ", ":only failed\r",
			"2 of 3 hosts> ", "echo =$((40+2))=; sleep 1000; echo after\r",
			"| =42=", "\x03",
			"> ", "echo =$((6*7))= >&2\r",
			"> ", ":only web9\r",
			"fairlead: :only: no host named web9", "\r",
			"> ", ":fold\r",
			"> ", "echo =$((40+3))=; exit 3\r",
			"failed> ", ":become app\r",
			"> ", "echo as$AS =$((40+4))=; exit 1\r",
			"failed> ", "\x04",
		})
		assert.Equal(t, 1, cmd.ProcessState.ExitCode(), "%s: that of the last command: %s", mode, screen)
		assert.Contains(t, screen, "fairlead: 3 hosts: web[1-3]. Each line runs on all of them")
		assert.Contains(t, screen, "stopping the command on ")
		assert.NotContains(t, screen, "| after", "it was interrupted")
		assert.Contains(t, screen, "exit 3", "what follows runs all the same")
		assert.Equal(t, 1, strings.Count(screen, "\n=43=\n")+strings.Count(screen, "\n  =43=\n"), "grouped: %s", screen)
		assert.Regexp(t, `as .*-u app =44=`, screen)
		assert.DirExists(t, once)

		list := exec.Command(self, "-i", inventory, "--keeper", mode, "runs", "list")
		list.Env = env
		out, err := list.Output()
		require.NoError(t, err)
		lines := strings.Split(strings.TrimSpace(string(out)), "\n")
		require.GreaterOrEqual(t, len(lines), 5)
		for i, want := range []string{"exit 1", "exit 3", "=$((6*7))=", "sleep 1000", "mkdir " + once} {
			assert.Contains(t, lines[i], want, "each line is a run, the newest first")
		}
	}
}

func TestWithoutATerminalThereIsNoPrompt(t *testing.T) {
	t.Parallel()
	code, stdout, stderr, _ := onTerminal(t, true, "> ", "id\n")
	assert.Equal(t, 2, code)
	assert.Empty(t, stdout)
	assert.Equal(t, "fairlead: run needs a command: fairlead run web1 -- COMMAND\n", stderr)
}

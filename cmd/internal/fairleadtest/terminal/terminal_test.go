package terminal_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/fairleadtest"
)

// onTerminal runs the program with a controlling terminal but no stream on it, where a person types answer when the
// terminal shows prompt. With tty false there is no terminal at all.
func onTerminal(t *testing.T, tty bool, prompt, answer string, args ...string) (code int, stdout, stderr, screen string) {
	t.Helper()
	dir := t.TempDir()
	inventory := filepath.Join(dir, "inventory.yaml")
	require.NoError(t, os.WriteFile(inventory, []byte("version: 1\nhosts:\n  - {name: web1, transport: local, tier: prod}\n"), 0o600))
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command(self, append([]string{"-i", inventory, "run", "web1"}, args...)...)
	cmd.Args[0] = "fairlead"
	cmd.Env = []string{fairleadtest.Gorace, "PATH=" + os.Getenv("PATH"), "HOME=" + dir, "SHELL=/bin/sh"}
	return fairleadtest.TypeAt(t, cmd, tty, prompt, answer)
}

// stops is dangerous by its text, and stops nothing.
const stops = "cat; echo ran; systemctl --version stop x >/dev/null 2>&1; true"

func TestAConfirmationIsAskedForAtTheTerminalWhereverTheStreamsGo(t *testing.T) {
	t.Parallel()
	code, stdout, stderr, screen := onTerminal(t, true, "[y/N] ", "y\n", "--stdin", "--", stops)
	assert.Zero(t, code)
	assert.Equal(t, "pipedran\n", stdout, "the answer did not come out of standard input")
	assert.Empty(t, stderr)
	assert.Contains(t, screen, "fairlead: This needs a confirmation.\n  hosts    web1 (1 host)\n")

	code, stdout, stderr, _ = onTerminal(t, true, "[y/N] ", "n\n", "--stdin", "--", stops)
	assert.Equal(t, 5, code)
	assert.Empty(t, stdout)
	assert.Contains(t, stderr, "fairlead: web1: denied: ")
	assert.Contains(t, stderr, "it was not confirmed")
}

func TestInterruptAtTheQuestionExitsWith130(t *testing.T) {
	t.Parallel()
	code, stdout, _, _ := onTerminal(t, true, "[y/N] ", "\x03", "--", stops)
	assert.Equal(t, 130, code)
	assert.Empty(t, stdout)
}

func TestWithoutATerminalNobodyConfirms(t *testing.T) {
	t.Parallel()
	code, stdout, stderr, _ := onTerminal(t, false, "", "", "--", stops)
	assert.Equal(t, 5, code)
	assert.Empty(t, stdout)
	assert.Contains(t, stderr, "there is no terminal to ask at: answer with --yes\n")
}

func TestARolloutIsConfirmedAtTheTerminal(t *testing.T) {
	t.Parallel()
	dir, _ := fairleadtest.KeeperHome(t)
	inventory := filepath.Join(dir, "inventory.yaml")
	require.NoError(t, os.WriteFile(inventory, []byte("version: 1\nhosts: [{name: \"web[1-3]\", transport: demo, tier: dev}]\n"), 0o600))
	self := fairleadtest.Program(t, dir)
	for _, mode := range []string{"off", "require"} {
		for typed, want := range map[string]struct{ code, ran int }{"y\n": {0, 3}, "n\n": {130, 1}, "\x03": {130, 1}} {
			cmd := exec.Command(self, "--keeper", mode, "-i", inventory, "run", "web[1-3]", "--batch", "1,100%", "--confirm", "--", "echo ran")
			cmd.Env = []string{fairleadtest.Gorace, "PATH=" + os.Getenv("PATH"), "HOME=" + dir, "XDG_RUNTIME_DIR=" + dir, "SHELL=/bin/sh"}
			code, stdout, stderr, screen := fairleadtest.TypeAt(t, cmd, true, "[y/N] ", typed)
			assert.Equal(t, want.code, code, "%s %q: %s", mode, typed, stderr)
			assert.Equal(t, want.ran, strings.Count(stdout, "ran"), "%s %q", mode, typed)
			assert.Contains(t, screen, "fairlead: batch 1 of 2 is done; ok: web1\nRun batch 2 of 2 on web[2-3]? [y/N] ")
			if typed == "n\n" {
				assert.Contains(t, stderr, "fairlead: the run stopped: the next batch was not confirmed; not run: web[2-3]\n")
			}
		}
	}
}

// Nothing that is typed while a command runs is shown, but an answer is.
func TestAnAnswerBetweenBatchesIsShown(t *testing.T) {
	t.Parallel()
	dir, _ := fairleadtest.KeeperHome(t)
	inventory := filepath.Join(dir, "inventory.yaml")
	require.NoError(t, os.WriteFile(inventory, []byte("version: 1\nhosts: [{name: \"web[1-3]\", transport: demo, tier: dev}]\n"), 0o600))
	self := fairleadtest.Program(t, dir)
	for _, mode := range []string{"off", "require"} {
		cmd := exec.Command(self, "--keeper", mode, "-i", inventory, "run", "web[1-3]", "--batch", "1,1,1", "--confirm", "--fold", "--", "echo ran")
		cmd.Env = []string{fairleadtest.Gorace, "PATH=" + os.Getenv("PATH"), "HOME=" + dir, "XDG_RUNTIME_DIR=" + dir, "SHELL=/bin/sh", "TERM=xterm"}
		screen := fairleadtest.SitAt(t, cmd, []string{"on web2? [y/N] ", "y\r", "on web3? [y/N] ", "yes\r"})
		assert.Zero(t, cmd.ProcessState.ExitCode(), screen)
		assert.Contains(t, screen, "Run batch 2 of 3 on web2? [y/N] y\n", mode)
		assert.Contains(t, screen, "Run batch 3 of 3 on web3? [y/N] yes\n", mode)
	}
}

func TestBreakingTheGlassAtTheTerminal(t *testing.T) {
	t.Parallel()
	const forbidden = "echo ran; false && curl -s http://127.0.0.1:1/ | sh; true"
	code, stdout, stderr, screen := onTerminal(t, true, "Type the name of the host: ", "web1\n", "--yes", "--reason", "a drill", "--", forbidden)
	assert.Zero(t, code, stderr)
	assert.Equal(t, "ran\n", stdout)
	assert.Contains(t, screen, "This command is forbidden.")
	code, stdout, _, _ = onTerminal(t, false, "", "", "--yes", "--reason", "a drill", "--", forbidden)
	assert.Equal(t, 5, code)
	assert.Empty(t, stdout)
}

// What a person sees of a terminal, and what is on record of it, does not tell whether a keeper has opened it.
func TestATerminalIsTheSameWithAKeeperAndWithout(t *testing.T) {
	t.Parallel()
	dir, stop := fairleadtest.KeeperHome(t)
	inventory := filepath.Join(dir, "inventory.yaml")
	require.NoError(t, os.WriteFile(inventory, []byte("version: 1\nhosts:\n  - {name: web1, transport: demo, tier: dev}\n"+
		"  - {name: far, addr: 127.0.0.1, port: 1, tier: dev, ssh_config: none}\n"), 0o600))
	self := fairleadtest.Program(t, dir)
	for name, tt := range map[string]struct {
		args  []string
		typed []string // what is typed when the last thing before it was seen, in turns
		code  int
	}{
		"an exit code":   {[]string{"web1"}, []string{"", "stty size; tty -s; echo =$?=; exit 3\r"}, 3},
		"a signal":       {[]string{"web1"}, []string{"", "kill -9 $$\r"}, 137},
		"hung up":        {[]string{"web1"}, []string{"", "stty -echo; echo =$((40+2))=; exec cat >/dev/null\r", "=42=", "\r~."}, 130},
		"not recorded":   {[]string{"web1", "--no-record"}, []string{"", "exit\r"}, 0},
		"keys recorded":  {[]string{"web1", "--record-input"}, []string{"", "exit\r"}, 0},
		"not reached":    {[]string{"far"}, nil, 3},
		"not in there":   {[]string{"nobody"}, nil, 2},
		"another escape": {[]string{"web1", "-e", "%"}, []string{"", "stty -echo; echo =$((40+2))=; exec cat >/dev/null\r", "=42=", "\r%."}, 130},
	} {
		t.Run(name, func(t *testing.T) {
			var all [2]string
			for i, mode := range []string{"off", "require"} {
				cmd := exec.Command(self, append([]string{"-i", inventory, "--keeper", mode, "shell"}, tt.args...)...)
				cmd.Env = []string{fairleadtest.Gorace, "PATH=" + os.Getenv("PATH"), "HOME=" + dir, "SHELL=/bin/sh", "XDG_RUNTIME_DIR=" + dir, "LANG=C.UTF-8", "TERM=xterm"}
				screen := fairleadtest.SitAt(t, cmd, tt.typed)
				assert.Equal(t, tt.code, cmd.ProcessState.ExitCode(), screen)
				screen = regexp.MustCompile(`recordings/\S+`).ReplaceAllString(screen, "recordings/…")
				all[i] = regexp.MustCompile(`127\.0\.0\.1:\d+`).ReplaceAllString(screen, "(addr)")
			}
			assert.Equal(t, all[0], all[1])
			if tt.code != 2 && tt.code != 3 && name != "not recorded" {
				assert.Contains(t, all[0], "fairlead: recorded in "+dir)
			}
		})
	}
	stop()
	var opened, closed []string
	for e, err := range audit.All(filepath.Join(dir, ".local", "state", "fairlead", "audit")) {
		require.NoError(t, err)
		how, _, _ := strings.Cut(e.Command, ": ")
		switch e.Kind {
		case audit.SessionOpen:
			opened = append(opened, how)
		case audit.SessionClose:
			closed = append(closed, how)
		}
	}
	assert.Len(t, opened, 12, "six, with and without")
	assert.ElementsMatch(t, opened, closed)
}

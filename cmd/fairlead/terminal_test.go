package main_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "SHELL=/bin/sh"}
	return typeAt(t, cmd, tty, prompt, answer)
}

// typeAt is onTerminal for a command of any kind.
func typeAt(t *testing.T, cmd *exec.Cmd, tty bool, prompt, answer string) (code int, stdout, stderr, screen string) {
	t.Helper()
	var out, errOut bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader("piped"), &out, &errOut
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}

	var seen bytes.Buffer
	var wg sync.WaitGroup
	if tty {
		master, slave, err := pty.Open()
		require.NoError(t, err)
		cmd.ExtraFiles = []*os.File{slave}
		cmd.SysProcAttr.Setctty, cmd.SysProcAttr.Ctty = true, 3
		defer master.Close()
		defer slave.Close()
		wg.Go(func() {
			buf := make([]byte, 4096)
			for said := false; ; {
				n, err := master.Read(buf)
				seen.Write(buf[:n])
				if err != nil {
					return
				}
				if !said && strings.HasSuffix(seen.String(), prompt) {
					said = true
					_, _ = master.WriteString(answer)
				}
			}
		})
		require.NoError(t, cmd.Start())
		require.NoError(t, slave.Close()) // the reading ends with the program
	} else {
		require.NoError(t, cmd.Start())
	}
	late := time.AfterFunc(awaitAtMost, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	_ = cmd.Wait()
	wg.Wait()
	return cmd.ProcessState.ExitCode(), out.String(), errOut.String(), strings.ReplaceAll(seen.String(), "\r\n", "\n")
}

// stops is dangerous by its text, and stops nothing.
const stops = "cat; echo ran; systemctl --version stop x >/dev/null 2>&1; true"

func TestAConfirmationIsAskedForAtTheTerminalWhereverTheStreamsGo(t *testing.T) {
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
	code, stdout, _, _ := onTerminal(t, true, "[y/N] ", "\x03", "--", stops)
	assert.Equal(t, 130, code)
	assert.Empty(t, stdout)
}

func TestWithoutATerminalNobodyConfirms(t *testing.T) {
	code, stdout, stderr, _ := onTerminal(t, false, "", "", "--", stops)
	assert.Equal(t, 5, code)
	assert.Empty(t, stdout)
	assert.Contains(t, stderr, "there is no terminal to ask at: answer with --yes\n")
}

func TestBreakingTheGlassAtTheTerminal(t *testing.T) {
	const forbidden = "echo ran; false && curl -s http://127.0.0.1:1/ | sh; true"
	code, stdout, stderr, screen := onTerminal(t, true, "Type the name of the host: ", "web1\n", "--yes", "--reason", "a drill", "--", forbidden)
	assert.Zero(t, code, stderr)
	assert.Equal(t, "ran\n", stdout)
	assert.Contains(t, screen, "This is forbidden.")
	code, stdout, _, _ = onTerminal(t, false, "", "", "--yes", "--reason", "a drill", "--", forbidden)
	assert.Equal(t, 5, code)
	assert.Empty(t, stdout)
}

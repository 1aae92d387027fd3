package sandbox_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/sandbox"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// childOf waits for the one child that a process has.
func childOf(t *testing.T, pid int) string {
	t.Helper()
	var child string
	require.Eventually(t, func() bool {
		all, _ := os.ReadDir("/proc") // a pattern below it would read the directory of each process
		for _, e := range all {
			text, err := os.ReadFile(filepath.Join("/proc", e.Name(), "status"))
			if err == nil && strings.Contains(string(text), fmt.Sprintf("\nPPid:\t%d\n", pid)) {
				child = e.Name()
				return true
			}
		}
		return false
	}, time.Minute, 20*time.Millisecond) // it reads a file of every process there is
	return child
}

// bwrap itself is held at the place where it has started the first process and not yet let it run, and killed there.
func TestWhatBubblewrapLeavesWhenItIsKilledAsItStartsIsEnded(t *testing.T) {
	if out, err := exec.Command("bwrap", "--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "true").CombinedOutput(); err != nil {
		needs.Part(t, "bubblewrap does not work: %v: %s", err, out)
	}
	begun := func(words ...string) (*exec.Cmd, string) {
		hold, release, err := os.Pipe()
		require.NoError(t, err)
		t.Cleanup(func() { hold.Close(); release.Close() })
		args := append([]string{"--ro-bind", "/", "/", "--unshare-user", "--userns-block-fd", "3", "--info-fd", "2"}, words...)
		cmd := exec.Command("bwrap", append(args, "sleep", "100000")...)
		cmd.ExtraFiles = []*os.File{hold}
		require.NoError(t, cmd.Start())
		child := childOf(t, cmd.Process.Pid)
		t.Cleanup(func() {
			endProcess(t, child)
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
		return cmd, child
	}
	ours := sandbox.Isolation
	running := exec.Command("bwrap", slices.Concat([]string{"--ro-bind", "/", "/", "--unshare-user"}, ours, []string{"sleep", "100000"})...)
	require.NoError(t, running.Start())
	t.Cleanup(func() { _ = running.Process.Kill(); _ = running.Wait() })
	first, err := strconv.Atoi(childOf(t, running.Process.Pid))
	require.NoError(t, err)
	_ = childOf(t, first)
	_, starting := begun(ours...)
	outer, child := begun(ours...)
	others, foreign := begun("--unshare-pid", "--die-with-parent")
	for _, cmd := range []*exec.Cmd{outer, others} {
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()
	}
	require.DirExists(t, "/proc/"+child, "no limit")

	assert.Positive(t, sandbox.EndAbandoned())
	assert.Eventually(t, func() bool {
		_, err := os.Stat("/proc/" + child)
		return os.IsNotExist(err)
	}, time.Minute, time.Millisecond)
	assert.DirExists(t, fmt.Sprint("/proc/", first), "a sandbox in use is left alone")
	assert.DirExists(t, "/proc/"+starting, "one that still starts is left alone")
	assert.DirExists(t, "/proc/"+foreign, "so is another program's")
}

func endProcess(t *testing.T, number string) {
	t.Helper()
	pid, err := strconv.Atoi(number)
	require.NoError(t, err)
	p, err := os.FindProcess(pid)
	require.NoError(t, err)
	_ = p.Kill()
}

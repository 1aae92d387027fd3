package sandbox_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/sandbox"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// landlockFrom is landlocked for what came with a version of Landlock.
func landlockFrom(t *testing.T, version int) sandbox.Landlock {
	t.Helper()
	l := landlocked(t)
	if v := sandbox.LandlockVersion(); v < version {
		needs.Part(t, "the kernel's Landlock has version %d, and this came with %d", v, version)
	}
	return l
}

// From version 6 on; kernel_test.go tests the same of bubblewrap.
func TestLandlockHoldsSignalsAndAbstractSockets(t *testing.T) {
	need(t, "perl")
	l := landlockFrom(t, 6)
	dir := treeIn(t, scratch(t))
	pid, unhurt := outside(t)
	name := fmt.Sprintf("@fairlead-scope-%d", os.Getpid())
	connected := listen(t, name)

	script := fmt.Sprintf("kill -9 %[1]d; kill -9 -- -%[1]d; sleep 600 & kill -9 $! && echo own; %[2]s", pid, fmt.Sprintf(perlConnect, perlName(name)))
	out, _ := exec.Command(l.Helper[0], "sandbox-exec", dir+"/box", "sh", "-c", script).Output()
	assert.Equal(t, "own\n", string(out), "its own processes it may signal")
	unhurt()
	assert.False(t, connected(), "an abstract socket outside was reached")
}

// From version 5 on. A device that can be read may not be commanded.
func TestLandlockHoldsCommandsToDevices(t *testing.T) {
	need(t, "perl")
	l := landlockFrom(t, 5)
	const number = `perl -e 'open F, "<", "/dev/ptmx" or die "open: $!\n"; my $n = "\0" x 4; print ioctl(F, 0x80045430, $n) ? "commanded\n" : "held\n"'` // TIOCGPTN
	free, err := exec.Command("sh", "-c", number).Output()
	if err != nil || string(free) != "commanded\n" {
		needs.Part(t, "this machine's /dev/ptmx does not answer (%v)", err)
	}
	out, err := exec.Command(l.Helper[0], "sandbox-exec", treeIn(t, scratch(t))+"/box", "sh", "-c", number).CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Equal(t, "held\n", string(out))
}

// The terminal on standard input may be written by its name. A file there may not, whoever opened it and how.
func TestAFileOnStandardInputStaysClosedToWriters(t *testing.T) {
	l := landlocked(t)
	dir := treeIn(t, scratch(t))
	before := snapshot(t, dir+"/out")
	f, err := os.Open(dir + "/out/keep")
	require.NoError(t, err)
	defer f.Close()
	cmd := exec.Command(l.Helper[0], "sandbox-exec", dir+"/box", "sh", "-c", "echo x >../out/keep; echo x >>/proc/self/fd/0; echo x >>/dev/stdin; echo done")
	cmd.Stdin = f
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	require.NoError(t, err)
	assert.Equal(t, "done\n", string(out))
	assert.Equal(t, 3, strings.Count(strings.ToLower(said.String()), "permission denied"), said.String())
	assert.Equal(t, before, snapshot(t, dir+"/out"))
}

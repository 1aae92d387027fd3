//go:build unix

package procgroup_test

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit/procgroup"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// run runs a script, which writes to its third file, until its first line is there, and then ends its context.
func run(t *testing.T, script string) (line string, gone io.Reader, err error) {
	t.Helper()
	said, say, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { said.Close() })
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-c", script)
	cmd.ExtraFiles = []*os.File{say}
	cmd.Stdout, cmd.Stderr = &bytes.Buffer{}, &bytes.Buffer{}
	cmd.Stdin = strings.NewReader(strings.Repeat("x", 1<<20)) // more than a pipe takes
	done := make(chan error, 1)
	go func() { done <- procgroup.Run(cmd) }()
	r := bufio.NewReader(said)
	line, err = r.ReadString('\n')
	require.NoError(t, err)
	cancel()
	err = <-done
	say.Close()
	return strings.TrimSpace(line), r, err
}

func TestTheEndOfTheContextKillsWhatWasStartedToo(t *testing.T) {
	_, gone, err := run(t, "(while :; do sleep 1000; done) & (yes spew) & echo started >&3; wait")
	require.Error(t, err)
	_, err = io.ReadAll(gone) // which ends once nobody holds the other end
	assert.NoError(t, err)
}

func TestWhatHasLeftTheGroupIsNotWaitedForWhileItHoldsTheOutput(t *testing.T) {
	if _, err := exec.LookPath("setsid"); err != nil {
		needs.Part(t, "setsid is not installed")
	}
	line, _, err := run(t, `setsid sh -c 'echo $$ >&3; exec sleep 1000' & wait`)
	require.Error(t, err)
	pid, err := strconv.Atoi(line)
	require.NoError(t, err)
	assert.NoError(t, syscall.Kill(pid, syscall.SIGKILL), "it ran on")
}

func TestAProgramThatLeavesSomethingBehindHasEndedWell(t *testing.T) {
	said, say, err := os.Pipe()
	require.NoError(t, err)
	defer said.Close()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "sleep 1000 & echo $! >&3")
	cmd.ExtraFiles, cmd.Stderr = []*os.File{say}, &bytes.Buffer{}
	assert.NoError(t, procgroup.Run(cmd))
	line, err := bufio.NewReader(said).ReadString('\n')
	require.NoError(t, err)
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	require.NoError(t, err)
	assert.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	say.Close()
}

package framing_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/fairlead-ssh/fairlead/framing"
)

// Where nobody reaps what lost its parent, as in many containers, the supervisor does not wait for that at the hangup. It is
// seen by how often it sleeps.
func TestAHangUpDoesNotWaitForTheDead(t *testing.T) {
	strace := have(t, "strace")
	have(t, "perl")
	// This process is who does not reap.
	require.NoError(t, unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0))
	defer func() { require.NoError(t, unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)) }()
	least := 4
	for range 5 { // a machine with much to do takes its time for what lives
		s := start(t, framing.Shell{Name: "bash", Reader: "perl"})
		sid := s.cmd.Process.Pid
		var dead []int
		for i := 0; len(dead) == 0 && i < 100; i++ { // the subshell reaps one that ends before it does
			s.run("(/bin/true &)")
			dead = zombies(sid)
		}
		require.NotEmpty(t, dead)
		trace := filepath.Join(t.TempDir(), "trace")
		cmd := exec.Command(strace, "-qq", "-o", trace, "-e", "trace=select,pselect6", "-p", fmt.Sprint(sid))
		require.NoError(t, cmd.Start())
		require.Eventually(t, func() bool {
			return strings.Contains(slurp(fmt.Sprintf("/proc/%d/status", sid)), fmt.Sprintf("TracerPid:\t%d\n", cmd.Process.Pid))
		}, patience, tick)
		s.close()
		cmd.Wait() // ends with the supervisor
		requireGone(t, sid)
		least = min(least, strings.Count(slurp(trace), "(0, NULL, NULL, NULL,"))
		for _, pid := range dead {
			_, _ = syscall.Wait4(pid, nil, 0, nil)
		}
	}
	require.Less(t, least, 4)
}

// zombies returns the dead of a session that nobody has reaped.
func zombies(sid int) (all []int) {
	for _, pid := range pids() {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			continue
		}
		end := strings.LastIndexByte(string(b), ')')
		var ppid, pgrp, session int
		var state string
		fmt.Sscan(string(b[end+1:]), &state, &ppid, &pgrp, &session)
		if state == "Z" && session == sid {
			all = append(all, pid)
		}
	}
	return all
}

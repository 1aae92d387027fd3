package framing_test

import (
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/framing"
)

// What is listed is what runs on after the hangup, by name, and nothing else is.
func TestLeavesListsWhatTheHangupLeaves(t *testing.T) {
	have(t, "setsid")
	eachShell(t, []string{"perl", "lines"}, func(t *testing.T, sh framing.Shell) {
		s := start(t, sh)
		o := s.run("nohup /bin/sleep 71 >/dev/null 2>&1 & echo $!\n" +
			"(nohup /bin/sleep 72 >/dev/null 2>&1 & echo $!)\n" + // its parent has ended
			"setsid /bin/sleep 73 >/dev/null 2>&1 & echo $!\n" +
			"/bin/sleep 74 >/dev/null 2>&1 & (/bin/sleep 75 >/dev/null 2>&1 &)")
		pids := strings.Fields(o.stdout)
		require.Len(t, pids, 3)
		t.Cleanup(func() {
			for _, text := range pids {
				pid, err := strconv.Atoi(text)
				require.NoError(t, err)
				assert.NoError(t, syscall.Kill(pid, syscall.SIGKILL), "it was to go on")
			}
		})
		var left []framing.Process
		require.Eventually(t, func() bool {
			said, err := exec.Command("/bin/sh", "-c", framing.Leaves(s.hello.PID)).Output()
			require.NoError(t, err)
			left = framing.ParseLeaves(string(said), s.hello.PID)
			for _, p := range left {
				if p.Name != "sleep" { // it is not yet
					return false
				}
			}
			return len(left) == len(pids)
		}, patience, tick, "%v", &left)
		for _, p := range left {
			assert.Contains(t, pids, strconv.Itoa(p.PID))
		}
		s.close()
	})
}

func TestParseLeaves(t *testing.T) {
	for said, want := range map[string][]framing.Process{
		"":                                  nil,
		"fairlead:7:\n":                     nil,
		"fairlead:8:\n9 x\n":                nil,
		"motd\nfairlead:7:\n9 x y\n8 (a)\n": {{8, "(a)"}, {9, "x y"}},
		"fairlead:7:\n9\n-3 x\nb 4\n\n10 ":  {{9, ""}, {10, ""}},
	} {
		assert.Equal(t, want, framing.ParseLeaves(said, 7), "%q", said)
	}
}

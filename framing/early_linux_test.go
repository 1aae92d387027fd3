package framing_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// A child of the shell's that has not yet become its program may still have the shell's own trap on SIGINT, which forgets the
// signal in the child. On a busy machine it stays so for a while: here strace holds it up.
func TestAnInterruptFindsAProgramThatIsLateToStart(t *testing.T) {
	strace := have(t, "strace")
	if scope := strings.TrimSpace(slurp("/proc/sys/kernel/yama/ptrace_scope")); scope != "" && scope != "0" && os.Getuid() != 0 {
		needs.Part(t, "strace may not be attached here")
	}
	const child, program = "set_robust_list:delay_exit=400000", "execve:delay_enter=400000" // a child's first call, and its last as the shell
	eachShell(t, []string{"perl"}, func(t *testing.T, sh framing.Shell) {
		late := map[string]string{"bash": child, "ash": child, "mksh": child, "dash": program, "zsh": program}[sh.Name]
		if late == "" {
			t.Skip("ksh93 is interrupted by the key")
		}
		s := start(t, sh)
		shell := fmt.Sprint(s.hello.PID)
		tracer := exec.Command(strace, "-f", "-qq", "-o", "/dev/null", "-e", "signal=none", "-e", "trace=set_robust_list,execve",
			"-e", "inject="+late, "-p", shell)
		require.NoError(t, tracer.Start())
		t.Cleanup(func() {
			s.close()
			tracer.Wait() // ends with the shell
		})
		require.Eventually(t, func() bool {
			return strings.Contains(slurp("/proc/"+shell+"/status"), fmt.Sprintf("TracerPid:\t%d\n", tracer.Process.Pid))
		}, patience, tick)
		s.send(framing.Command{Script: "/bin/sleep 100"})
		before := s.waitSeeing(func(ev framing.Event) bool { return ev.Kind != framing.Started })
		require.Nil(t, before.exit)
		var pid string
		require.Eventually(t, func() bool {
			children, _ := filepath.Glob("/proc/" + shell + "/task/*/children")
			for _, path := range children {
				pid += strings.TrimSpace(slurp(path))
			}
			return pid != ""
		}, patience, tick)
		require.Equal(t, slurp("/proc/"+shell+"/cmdline"), slurp("/proc/"+pid+"/cmdline"), "it has become its program already")
		said, err := exec.Command("/bin/sh", "-c", framing.Interrupt(s.hello.PID, s.hello.Dialect)).Output()
		require.NoError(t, err)
		require.Equal(t, framing.Signaled{Count: 1, Done: true}, framing.ParseSignaled(string(said), s.hello.PID))
		o := s.wait()
		require.Nil(t, o.exit)
		assert.Equal(t, 130, o.trailer.ExitCode)
		assert.NotContains(t, o.stdout, "never")
	})
}

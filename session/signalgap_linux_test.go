package session_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// A signal may come when the shell is about to start a program, and there is none to send it to: the program gets it then, and
// the command does not go on until that ends by itself. Here strace holds the shell up.
func TestASignalFindsAProgramThatTheShellIsAboutToStart(t *testing.T) {
	strace, err := exec.LookPath("strace")
	if err != nil {
		needs.Part(t, "strace is not installed")
	}
	if scope, _ := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope"); len(scope) > 0 && string(scope) != "0\n" && os.Getuid() != 0 {
		needs.Part(t, "strace may not be attached here")
	}
	for _, name := range []string{"INT", "TERM"} {
		for _, shell := range []string{"bash", "zsh", "dash", "ash", "mksh"} {
			t.Run(name+"/"+shell, func(t *testing.T) {
				needShell(t, shell)
				t.Parallel()
				s := openWithin(t, transports[0].open(t), shell, grace)
				r, err := s.Run(t.Context(), session.Command{Script: "echo $$"})
				require.NoError(t, err)
				pid := strings.TrimSpace(string(r.Stdout))
				tracer := exec.Command(strace, "-qq", "-o", "/dev/null", "-e", "signal=none", "-e", "trace=clone,clone3,fork,vfork",
					"-e", "inject=clone,clone3,fork,vfork:delay_enter=300000", "-p", pid)
				require.NoError(t, tracer.Start())
				t.Cleanup(func() {
					s.Close()
					tracer.Wait() // ends with the shell
				})
				require.Eventually(t, func() bool {
					status, _ := os.ReadFile("/proc/" + pid + "/status")
					return strings.Contains(string(status), fmt.Sprintf("TracerPid:\t%d\n", tracer.Process.Pid))
				}, 20*time.Second, 5*time.Millisecond)
				up := newUpWriter()
				x, err := s.Start(t.Context(), session.Command{Script: "echo up; /bin/sleep 100; echo never", Stdout: up})
				require.NoError(t, err)
				<-up.seen
				require.NoError(t, x.Signal(t.Context(), name))
				select {
				case <-x.Done():
				case <-time.After(60 * time.Second):
					t.Error("the program has not heard the signal")
				}
				assert.NotContains(t, string(x.Result().Stdout), "never")
			})
		}
	}
}

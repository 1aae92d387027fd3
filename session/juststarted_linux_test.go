package session_test

import (
	"context"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// A daemon that a one-off command starts goes on, however soon the shell is ended after that; what belongs to the command does not.
func TestADaemonThatAOneOffStartsGoesOn(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/usr/bin/perl"); err != nil {
		needs.Part(t, "perl is not installed")
	}
	for _, via := range transports {
		for _, shell := range shellsOver(via.name) {
			t.Run(via.name+"/"+shell, func(t *testing.T) {
				needShell(t, shell)
				t.Parallel()
				connect := dialers[via.name](t)
				p, err := session.NewPool(session.PoolConfig{
					Dial:    func(context.Context, hosts.Host) (session.Transport, error) { return connect(t), nil },
					Session: session.Config{Policy: policy.AllowAll, Audit: audit.Discard{}},
				})
				require.NoError(t, err)
				var daemons, others []int
				for range 4 {
					r, err := p.Run(t.Context(), hosts.Host{Name: "host", Shell: shell}, session.Command{
						Script: "nohup /bin/sleep 1000 >/dev/null 2>&1 & echo $!; setsid /bin/sleep 1000 >/dev/null 2>&1 & echo $!; /bin/sleep 1000 & echo $!",
					})
					require.NoError(t, err)
					pids := strings.Fields(string(r.Stdout))
					require.Len(t, pids, 3)
					for i, text := range pids {
						pid, err := strconv.Atoi(text)
						require.NoError(t, err)
						if i < 2 {
							daemons = append(daemons, pid)
						} else {
							others = append(others, pid)
						}
					}
				}
				require.NoError(t, p.Close())
				// The host is told of the end and hangs up by itself. On a busy one a process is not its program for a while.
				require.Eventually(t, func() bool {
					for _, pid := range others {
						if line := cmdline(pid); strings.Contains(line, "sleep") || strings.Contains(line, "fairlead") {
							return false
						}
					}
					return true
				}, 20*time.Second, 10*time.Millisecond, "what belongs to a command ends with it")
				for _, pid := range daemons {
					require.Eventually(t, func() bool { return strings.Contains(cmdline(pid), "sleep") }, 20*time.Second, 10*time.Millisecond, "%d was to go on", pid)
					require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
				}
			})
		}
	}
}

func cmdline(pid int) string {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/cmdline")
	return string(text)
}

package session_test

import (
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// Before it is closed a session tells what will go on, and that does.
func TestASessionTellsWhatItsEndLeaves(t *testing.T) {
	t.Parallel()
	for _, via := range transports {
		for _, shell := range shellsOver(via.name) {
			t.Run(via.name+"/"+shell, func(t *testing.T) {
				needShell(t, shell)
				t.Parallel()
				s, err := session.Open(dialers[via.name](t)(t), hosts.Host{Name: "host", Shell: shell}, session.Config{Policy: policy.AllowAll, Audit: audit.Discard{}})
				require.NoError(t, err)
				t.Cleanup(func() { assert.NoError(t, s.Close()) })
				assert.Empty(t, s.Leaves(t.Context()), "it has no shell")
				r, err := s.Run(t.Context(), session.Command{
					Script: "nohup /bin/sleep 1000 >/dev/null 2>&1 & echo $!; setsid /bin/sleep 1000 >/dev/null 2>&1 & echo $!; /bin/sleep 1000 & echo $!",
				})
				require.NoError(t, err)
				pids := strings.Fields(string(r.Stdout))
				require.Len(t, pids, 3)
				number := func(i int) int {
					pid, err := strconv.Atoi(pids[i])
					require.NoError(t, err)
					return pid
				}
				t.Cleanup(func() {
					for i := range 2 {
						assert.NoError(t, syscall.Kill(number(i), syscall.SIGKILL), "it was to stay")
					}
				})
				require.Eventually(t, func() bool {
					left := s.Leaves(t.Context())
					ids := map[int]string{}
					for _, p := range left {
						ids[p.PID] = p.Name
					}
					return len(left) == 2 && ids[number(0)] == "sleep" && ids[number(1)] == "sleep"
				}, 20*time.Second, 10*time.Millisecond)
				require.NoError(t, s.Close())
				assert.Empty(t, s.Leaves(t.Context()), "it is closed")
			})
		}
	}
}

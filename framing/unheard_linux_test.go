package framing_test

import (
	"os/exec"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/framing"
)

// A program that would have died of the key had it heard it may be sent the key again; no other may.
func TestUnheardCountsWhatTheKeyWouldHaveEnded(t *testing.T) {
	eachShell(t, []string{"perl"}, func(t *testing.T, sh framing.Shell) {
		for _, tt := range []struct {
			script string
			want   int
		}{
			{"/bin/sleep 100", 1},
			{"/bin/sleep 100 | /bin/sleep 100", 2},
			{`sh -c 'trap "" INT; exec /bin/sleep 100'`, 0},
			{`perl -e '$SIG{INT} = sub { exit }; system "/bin/sleep 100"'`, 1}, // perl ignores it while it waits, and its program does not
			{`perl -MPOSIX -e 'sigprocmask(SIG_BLOCK, POSIX::SigSet->new(SIGINT)); exec "/bin/sleep 100"'`, 0},
		} {
			t.Run(tt.script, func(t *testing.T) {
				s := start(t, sh)
				s.doWhile(func() {
					require.Eventually(t, func() bool {
						said, err := exec.Command("/bin/sh", "-c", framing.Unheard(s.hello.PID)).Output()
						require.NoError(t, err)
						u := framing.ParseSignaled(string(said), s.hello.PID)
						require.True(t, u.Done, strconv.Quote(string(said)))
						return u.Count == tt.want
					}, patience, tick)
					s.signaled("KILL")
				}, tt.script, "sleep")
			})
		}
	})
}

package session_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
)

// A command sees the exit code of the one before it in its session, as a typed one does.
func TestACommandSeesTheExitCodeOfTheOneBefore(t *testing.T) {
	onEveryShellWithin(t, 4*grace, func(t *testing.T, s *session.Session) { // the first step of a stop has to be enough
		say := func(want string) {
			t.Helper()
			r, err := s.Run(t.Context(), session.Command{Script: "echo rc=$?"})
			require.NoError(t, err)
			assert.Equal(t, "rc="+want+"\n", string(r.Stdout))
		}
		run := func(script string) session.Result {
			r, _ := s.Run(t.Context(), session.Command{Script: script, Timeout: time.Minute})
			return r
		}
		say("0")
		run("false")
		say("1")
		say("0")
		run("(exit 42)")
		say("42")
		run("nosuchcommand")
		say("127")
		run("A=1; false") // a snapshot is taken behind it
		say("1")
		run("sh -c 'kill -TERM $$'")
		say("143")
		run("exit 3")
		say("3")
		run("kill -9 $$")
		say("137")
		run("true")
		say("0")
		r := stopOnceUp(t, s, "echo up; /bin/sleep 100", (*session.Exec).Stop)
		require.Equal(t, session.StatusCanceled, r.Status)
		assert.Equal(t, "INT", r.StoppedBy)
		say("130")
		stopOnceUp(t, s, "echo up; exec sh -c 'trap \"\" INT TERM HUP; while :; do /bin/sleep 1; done'", (*session.Exec).Stop)
		say("137")
		s.Reset()
		say("0")
	})
}

// A stop that comes before the shell has read the command waits for it, and is heard.
func TestAStopRightAfterTheStartIsHeard(t *testing.T) {
	onEveryShellWithin(t, time.Minute, func(t *testing.T, s *session.Session) { // a step that needs it all hangs
		_, err := s.Run(t.Context(), session.Command{Script: "true"})
		require.NoError(t, err)
		rounds := 16
		if !strings.Contains(t.Name(), "/local/") {
			rounds = 6
		}
		for i := range rounds {
			ctx, cancel := context.WithCancel(t.Context())
			script := []string{"/bin/sleep 100", "/bin/sleep 100; echo never"}[i%2]
			x, err := s.Start(ctx, session.Command{Script: script})
			require.NoError(t, err)
			x.Stop()
			r := x.Result()
			cancel()
			require.Equal(t, session.StatusCanceled, r.Status)
			assert.Equal(t, "INT", r.StoppedBy)
			assert.Empty(t, r.Stdout)
		}
	})
}

// A command that kills what reports its start has run all the same.
func TestACommandThatKillsTheSupervisorMayHaveRun(t *testing.T) {
	s := open(t, transports[0].open(t), "bash")
	r, err := s.Run(t.Context(), session.Command{Script: "kill -9 $PPID; /bin/sleep 5"})
	assert.Equal(t, session.StatusLost, r.Status)
	require.ErrorIs(t, err, session.ErrUnknownOutcome)
	assert.False(t, strings.Contains(err.Error(), "before it accepted"), err)
}

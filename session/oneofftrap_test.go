package session_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/localpty"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// A one-off command is a script of its own: at its end its trap on EXIT runs, and what that prints is the command's.
func TestTheTrapOnExitOfAOneOffRunsAtItsEnd(t *testing.T) {
	t.Parallel()
	for _, shell := range shells {
		t.Run(shell, func(t *testing.T) {
			needShell(t, shell)
			t.Parallel()
			dial := func(context.Context, hosts.Host) (session.Transport, error) { return localpty.New(localpty.Config{}) }
			pool, err := session.NewPool(session.PoolConfig{Dial: dial, Session: session.Config{Policy: policy.AllowAll, Audit: audit.Discard{}, Grace: grace}})
			require.NoError(t, err)
			defer pool.Close()
			run := func(cmd session.Command) session.Result {
				cmd.Timeout = time.Minute
				r, err := pool.Run(t.Context(), hosts.Host{Name: "host", Shell: shell}, cmd)
				require.NoError(t, err, "%s: %v", cmd.Script, r.Status)
				assert.Empty(t, r.Stray, cmd.Script)
				return r
			}
			r := run(session.Command{Script: "trap 'read x; echo bye; echo byerr >&2' EXIT\necho hi\n(exit 3)"})
			assert.Equal(t, "hi\nbye\n", string(r.Stdout))
			assert.Equal(t, "byerr\n", string(r.Stderr))
			assert.Equal(t, 3, *r.ExitCode)

			r = run(session.Command{Script: "trap 'exit 9' EXIT; cat <<E\nit's $((1+1))\nE"})
			assert.Equal(t, "it's 2\n", string(r.Stdout))
			assert.Equal(t, 9, *r.ExitCode)

			r = run(session.Command{Script: "cd /usr; trap 'echo never' USR1; echo trap # exit"})
			assert.Equal(t, "trap\n", string(r.Stdout))
			assert.Zero(t, *r.ExitCode)
			assert.Equal(t, "/usr", r.Dir)

			r = run(session.Command{Script: "echo trap; trap 'echo bye' EXIT; exit 4"})
			assert.Equal(t, "trap\nbye\n", string(r.Stdout))
			assert.Equal(t, 4, *r.ExitCode)

			r = run(session.Command{Script: "echo 'trap"})
			assert.NotZero(t, *r.ExitCode)
			assert.NotEmpty(t, r.Stderr)
			assert.NotContains(t, string(r.Stderr), "_fl_")

			r = run(session.Command{Script: "--help; trap 'echo bye' EXIT"})
			assert.Equal(t, "bye\n", string(r.Stdout))

			r = run(session.Command{Script: "echo ok"})
			assert.Equal(t, "ok\n", string(r.Stdout))
		})
	}
}

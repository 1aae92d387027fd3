package session_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/localpty"
)

// What is typed into a new shell to give it the state of the one before must have been answered before the next command comes.
func TestACommandThatIsCanceledWhileItsShellIsRestoredLeavesNothingBehind(t *testing.T) {
	needShell(t, "bash")
	tr, err := localpty.New(localpty.Config{})
	require.NoError(t, err)
	t.Cleanup(func() { tr.Close() })
	s, err := session.Open(tr, hosts.Host{Name: "host", Shell: "bash"}, permissive())
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	const rounds = 40
	var took time.Duration // that it takes to run something in a restored shell
	for i := range rounds {
		r, err := s.Run(t.Context(), session.Command{Script: fmt.Sprintf("export A=%d; umask 077; cd /tmp", i)})
		require.NoError(t, err)
		require.Equal(t, session.StatusOK, r.Status)
		r, err = s.Run(t.Context(), session.Command{Script: "kill -9 $$"})
		require.NoError(t, err)
		require.Equal(t, session.StatusSignal, r.Status)
		ctx, cancel := t.Context(), func() {}
		if i > 0 {
			ctx, cancel = context.WithTimeout(ctx, took/4+took*time.Duration(i)/rounds)
		}
		began := time.Now()
		_, _ = s.Run(ctx, session.Command{Script: "true"}) // canceled at some moment
		cancel()
		if i == 0 {
			took = time.Since(began)
		}
		r, err = s.Run(t.Context(), session.Command{Script: "echo $A"})
		require.NoError(t, err)
		assert.Equal(t, fmt.Sprintln(i), string(r.Stdout))
		assert.Empty(t, r.Stderr)
		assert.Empty(t, r.Stray)
	}
}

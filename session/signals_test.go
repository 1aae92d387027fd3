package session_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

func TestSignalThatKillsTheShellIsNamedWhereEverySystemAgrees(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		s := on(t, d, web1, permissive())
		for number, name := range map[int]string{
			1: "HUP", 2: "INT", 3: "QUIT", 4: "ILL", 6: "ABRT", 8: "FPE", 9: "KILL", 11: "SEGV", 13: "PIPE", 14: "ALRM", 15: "TERM",
			7: "7", 34: "34",
		} {
			script := fmt.Sprintf("kill -%d $$", number)
			d.On(script, reply{Killed: number})
			r, err := s.Run(t.Context(), session.Command{Script: script})
			require.NoError(t, err)
			assert.Equal(t, session.StatusSignal, r.Status)
			assert.Equal(t, name, r.Signal)
			assert.Nil(t, r.ExitCode)
			assert.Equal(t, &session.ExitError{Code: -1, Signal: name}, r.ExitErr())
		}
	})
}

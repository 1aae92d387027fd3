package session_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

// What programs have printed before they ended may take longer to arrive than a step of the ladder: as long as it comes,
// the shell behind it is given the time.
func TestAShellIsNotGivenUpWhileWhatItPrintedStillArrives(t *testing.T) {
	for name, tt := range map[string]struct {
		prints, silent time.Duration
		step           string
	}{
		"to its end":            {prints: 10 * time.Second, step: "KILL"},
		"for ever":              {prints: time.Hour, step: "shell"},
		"and then no more":      {prints: 7 * time.Second, silent: time.Hour, step: "shell"},
		"with a moment of rest": {prints: 7 * time.Second, silent: time.Second, step: "KILL"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
				d.OnFunc("flood", func(c *sessiontest.Call) reply {
					began := time.Now()
					for time.Since(began) < tt.prints {
						c.Stderr.Write([]byte("y\n"))
						select {
						case <-c.HungUp:
							return reply{}
						case <-time.After(500 * time.Millisecond):
						}
					}
					select {
					case <-c.HungUp:
					case <-time.After(tt.silent):
					}
					return reply{}
				})
				cfg := permissive()
				cfg.Grace = 2 * time.Second
				s := on(t, d, web1, cfg)
				began := time.Now()
				r, err := s.Run(t.Context(), session.Command{Script: "flood", Timeout: time.Second})
				require.Error(t, err)
				assert.Equal(t, session.StatusTimeout, r.Status)
				assert.Equal(t, tt.step, r.StoppedBy)
				assert.Less(t, time.Since(began), 20*time.Second)
			})
		})
	}
}

package session_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

// fillUp opens sessions on web1 until it is full, and returns them.
func fillUp(t *testing.T, p *session.Pool) (open []*session.Session) {
	t.Helper()
	for {
		s, err := p.Open(web1)
		require.NoError(t, err)
		_, err = s.Run(t.Context(), session.Command{Script: "open", SlotWait: time.Second})
		if errors.Is(err, session.ErrFull) {
			require.NoError(t, s.Close())
			return open
		}
		require.NoError(t, err)
		open = append(open, s)
		require.Less(t, len(open), 100)
	}
}

func TestASessionWaitsOnAFullHostAsLongAsItsCallerSays(t *testing.T) {
	for name, tt := range map[string]struct {
		host hosts.Host
		cmd  session.Command
		wait time.Duration // of the context; 0 is for ever
		took time.Duration
	}{
		"nothing is said":               {took: session.DefaultSlotWait},
		"a timeout":                     {cmd: session.Command{Timeout: 5 * time.Second}, took: 5 * time.Second},
		"a long timeout":                {cmd: session.Command{Timeout: time.Hour}, took: session.DefaultSlotWait},
		"a time to connect":             {host: hosts.Host{ConnectTimeout: 3 * time.Second}, took: 3 * time.Second},
		"both":                          {host: hosts.Host{ConnectTimeout: 7 * time.Second}, cmd: session.Command{Timeout: 4 * time.Second}, took: 4 * time.Second},
		"a time for the slot":           {cmd: session.Command{Timeout: time.Hour, SlotWait: 2 * time.Second}, took: 2 * time.Second},
		"the context has a deadline":    {wait: time.Second, took: time.Second},
		"the deadline comes after that": {wait: time.Hour, took: session.DefaultSlotWait},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
				d.On("open")
				p := poolOn(t, d, session.PoolConfig{MaxSessionsPerConn: 2, FullHint: "close one"})
				assert.Len(t, fillUp(t, p), 4)
				ctx := t.Context()
				if tt.wait > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tt.wait)
					defer cancel()
				}
				h := web1
				h.ConnectTimeout = tt.host.ConnectTimeout
				s := mustOpen(t, p, h)
				tt.cmd.Script = "never"
				began := time.Now()
				r, err := s.Run(ctx, tt.cmd)
				assert.Equal(t, tt.took, time.Since(began))
				assert.Equal(t, session.StatusError, r.Status)
				e := asError(t, err)
				assert.Equal(t, "full", e.Code)
				assert.True(t, e.Retriable)
				assert.False(t, e.Sent)
				var full *session.FullError
				require.ErrorAs(t, err, &full)
				assert.Equal(t, map[string]int{"program": 4}, full.Sessions)
				assert.ErrorIs(t, err, session.ErrFull)
				assert.Equal(t, tt.wait > 0 && tt.took == tt.wait, errors.Is(err, context.DeadlineExceeded))
				assert.ErrorContains(t, err, "the host is full: 4 open sessions of program (waited "+tt.took.String()+"); close one")
			})
		})
	}
}

func TestWhoLeavesAFullHostIsCanceled(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("open")
		p := poolOn(t, d, session.PoolConfig{MaxSessionsPerConn: 1})
		fillUp(t, p)
		ctx, cancel := context.WithCancel(t.Context())
		out := running(ctx, sessionOn(p), session.Command{Script: "never"})
		cancel()
		end := <-out
		assert.Equal(t, session.StatusCanceled, end.r.Status)
		assert.ErrorIs(t, end.err, context.Canceled)
	})
}

func TestOneOffCommandsHaveSlotsOfTheirOwn(t *testing.T) {
	for name, tt := range map[string]struct {
		server, sessions, commands int
	}{
		"a server that takes many":    {0, 16, 8},
		"one that takes two a piece":  {2, 4, 4},
		"one that takes one a piece":  {1, 2, 4},
		"one that takes three of ten": {3, 6, 6},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
				d.On("open")
				d.On("hang", reply{Hang: true})
				d.On("pwd")
				d.Fault("web1", faults{MaxSessions: tt.server})
				p := poolOn(t, d, session.PoolConfig{})
				open := fillUp(t, p)
				require.Len(t, open, tt.sessions)
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				run := func(ctx context.Context, c session.Command) (session.Result, error) { return p.Run(ctx, web1, c) }
				var outs []<-chan ended
				for range tt.commands {
					outs = append(outs, running(ctx, run, session.Command{Script: "hang"}))
				}
				synctest.Wait()
				assert.Equal(t, tt.sessions+tt.commands, p.Stats().Sessions, "all run at a time")
				assert.Zero(t, p.Stats().Waiting)

				_, err := p.Run(t.Context(), web1, session.Command{Script: "never", SlotWait: time.Second})
				var full *session.FullError
				require.ErrorAs(t, err, &full, "they are bounded too")
				assert.Equal(t, tt.commands, full.Commands)
				assert.Equal(t, map[string]int{"program": tt.sessions}, full.Sessions)

				s := mustOpen(t, p, web1)
				_, err = s.Run(t.Context(), session.Command{Script: "never", SlotWait: time.Second})
				require.ErrorAs(t, err, &full, "sessions do not take the slots of commands")
				stop()
				for _, out := range outs {
					<-out
				}
				_, err = s.Run(t.Context(), session.Command{Script: "never", SlotWait: time.Second})
				require.ErrorAs(t, err, &full, "nor those that are free")
				_, err = p.Run(t.Context(), web1, session.Command{Script: "pwd"})
				require.NoError(t, err)
				require.NoError(t, open[0].Close())
				_, err = s.Run(t.Context(), session.Command{Script: "pwd", SlotWait: time.Second})
				require.NoError(t, err)
			})
		})
	}
}

func TestASpareConnectionThatCannotBeMadeIsReported(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("open")
		p := poolOn(t, d, session.PoolConfig{MaxSessionsPerConn: 1})
		fillUp(t, p)
		waits := running(t.Context(), sessionOn(p), session.Command{Script: "open"})
		d.Fault("web1", faults{Dial: errors.New("too many logins")})
		_, err := p.Run(t.Context(), web1, session.Command{Script: "never"})
		assert.Equal(t, "unreachable", asError(t, err).Code)
		assert.ErrorContains(t, err, "sessions hold every slot, and another connection for one-off commands failed: too many logins")
		assert.Equal(t, 1, p.Stats().Waiting, "who waits for a session's slot waits on")
		d.Fault("web1", faults{})
		end := <-waits
		assert.Equal(t, "full", asError(t, end.err).Code)
	})
}

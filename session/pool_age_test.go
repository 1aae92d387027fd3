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

func pooled(t *testing.T, p *session.Pool) session.Result {
	t.Helper()
	r, err := p.Run(t.Context(), web1, session.Command{Script: "pwd"})
	require.NoError(t, err)
	return r
}

func TestUnusedConnectionClosesAfterTheIdleTimeAndNotASecondEarly(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("pwd")
		p := poolOn(t, d, session.PoolConfig{IdleTimeout: time.Minute})
		pooled(t, p)
		time.Sleep(59 * time.Second)
		assert.Equal(t, 1, d.Open("web1"), "closed early")
		pooled(t, p) // the time starts anew
		time.Sleep(59 * time.Second)
		synctest.Wait()
		assert.Equal(t, 1, d.Open("web1"), "closed early")
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Zero(t, d.Open("web1"))
		assert.EqualValues(t, 1, p.Stats().ClosedIdle)
		assert.Zero(t, session.Keys(p))
		pooled(t, p)
		assert.Equal(t, 2, d.Dialed("web1"))
	})
}

func TestSessionThatOnlyWaitsKeepsItsConnection(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("pwd")
		p := poolOn(t, d, session.PoolConfig{IdleTimeout: time.Minute})
		s := mustOpen(t, p, web1)
		runOK(t, s, "pwd")
		time.Sleep(24 * time.Hour)
		assert.False(t, runOK(t, s, "pwd").ShellRestarted)
		assert.Equal(t, 1, d.Open("web1"))
	})
}

func TestConnectionPastItsLifetimeTakesNoNewSessions(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("pwd")
		p := poolOn(t, d, session.PoolConfig{MaxLifetime: time.Hour, IdleTimeout: -1})
		holder := mustOpen(t, p, web1)
		runOK(t, holder, "pwd")
		time.Sleep(time.Hour - time.Second)
		pooled(t, p)
		assert.Equal(t, 1, d.Dialed("web1"))
		time.Sleep(time.Second)
		pooled(t, p)
		assert.Equal(t, 2, d.Dialed("web1"), "a new session gets a new connection")
		assert.Equal(t, 2, d.Open("web1"), "the old one is still in use")
		assert.False(t, runOK(t, holder, "pwd").ShellRestarted)
		require.NoError(t, holder.Close())
		synctest.Wait()
		assert.Equal(t, 1, d.Open("web1"), "it closes with its last session")
		assert.EqualValues(t, 1, p.Stats().ClosedOld)
		time.Sleep(2 * time.Hour)
		pooled(t, p)
		assert.Equal(t, 3, d.Dialed("web1"), "also when it was idle")
		synctest.Wait()
		assert.Equal(t, 1, d.Open("web1"))
		assert.EqualValues(t, 2, p.Stats().ClosedOld)
	})
}

func TestDeadConnectionIsFoundByAPingAndReplaced(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("pwd")
		p := poolOn(t, d, session.PoolConfig{})
		pooled(t, p)
		d.Fault("web1", faults{Ping: errors.New("no answer")})
		time.Sleep(5 * time.Second)
		pooled(t, p)
		assert.Equal(t, 1, d.Dialed("web1"), "5 s are fresh enough")
		time.Sleep(5*time.Second + 1)
		r := pooled(t, p)
		assert.False(t, r.Reconnected, "it never had another one")
		assert.Equal(t, 2, d.Dialed("web1"))
		assert.Equal(t, 1, d.Open("web1"))
		s := p.Stats()
		assert.EqualValues(t, 1, s.ClosedDead)
		assert.EqualValues(t, 3, s.Acquired, "a place on a dead connection is none")
	})
}

func TestPingThatHangsIsBroughtToAnEnd(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("pwd")
		p := poolOn(t, d, session.PoolConfig{})
		pooled(t, p)
		d.Fault("web1", faults{PingSlow: make(chan struct{})})
		time.Sleep(time.Minute)
		began := time.Now()
		pooled(t, p)
		assert.Equal(t, 5*time.Second, time.Since(began))
		assert.Equal(t, 2, d.Dialed("web1"))
	})
}

func TestCallerWhoLeavesDuringAPingDoesNotCondemnTheConnection(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("pwd")
		p := poolOn(t, d, session.PoolConfig{})
		pooled(t, p)
		d.Fault("web1", faults{PingSlow: make(chan struct{})})
		time.Sleep(time.Minute)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r, err := p.Run(ctx, web1, session.Command{Script: "never"})
		assert.Equal(t, session.StatusCanceled, r.Status)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, 1, p.Stats().Idle)
		assert.Zero(t, p.Stats().ClosedDead)

		d.Fault("web1", faults{Ping: errors.New("no answer")})
		pooled(t, p)
		assert.Equal(t, 2, d.Dialed("web1"), "but the next one looks again")
	})
}

func TestConnectionThatGoesAwayWhileIdleIsForgotten(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("pwd")
		var reasons []error
		cfg := session.PoolConfig{}
		cfg.Session.Trace = &session.Trace{ConnClosed: func(_ context.Context, _ hosts.Host, err error) { reasons = append(reasons, err) }}
		p := poolOn(t, d, cfg)
		pooled(t, p)
		d.Break("web1")
		synctest.Wait()
		assert.Zero(t, session.Keys(p))
		assert.EqualValues(t, 1, p.Stats().ClosedDead)
		require.Len(t, reasons, 1)
		assert.ErrorContains(t, reasons[0], "the network went away")
		pooled(t, p)
		assert.Equal(t, 2, d.Dialed("web1"))
	})
}

func TestConnectionThatGoesAwayUnderWaitersIsReplacedForThem(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("hang", reply{Hang: true})
		d.On("pwd")
		p := poolOn(t, d, session.PoolConfig{MaxConnsPerHost: 1, MaxSessionsPerConn: 1})
		holder := mustOpen(t, p, web1)
		x := begun(t, holder, session.Command{Script: "hang"})
		out := running(t.Context(), func(ctx context.Context, c session.Command) (session.Result, error) {
			return p.Run(ctx, web1, c)
		}, session.Command{Script: "pwd"})
		d.Break("web1")
		assert.NoError(t, (<-out).err)
		r, _ := x.Wait(t.Context())
		assert.Equal(t, session.StatusLost, r.Status)
		assert.Equal(t, 2, d.Dialed("web1"))
	})
}

func TestCloseIdleClosesWhatNobodyUses(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("pwd")
		p := poolOn(t, d, session.PoolConfig{MaxSessionsPerConn: 1})
		a, b := mustOpen(t, p, web1), mustOpen(t, p, web1)
		runOK(t, a, "pwd")
		runOK(t, b, "pwd")
		require.NoError(t, a.Close())
		p.CloseIdle()
		synctest.Wait()
		assert.Equal(t, 1, d.Open("web1"))
		assert.False(t, runOK(t, b, "pwd").ShellRestarted)
		assert.EqualValues(t, 1, p.Stats().ClosedIdle)
	})
}

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

func TestClosedPoolGivesNothingOut(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		p := poolOn(t, d, session.PoolConfig{})
		require.NoError(t, p.Close())
		require.NoError(t, p.Close(), "a second time")
		_, err := p.Open(web1)
		assert.ErrorIs(t, err, session.ErrClosed)
		_, err = p.Acquire(web1)
		assert.ErrorIs(t, err, session.ErrClosed)
		r, err := p.Run(t.Context(), web1, session.Command{Script: "never"})
		assert.ErrorIs(t, err, session.ErrClosed)
		assert.Equal(t, session.StatusError, r.Status)
		assert.Equal(t, session.Done, r.State)
		for h, r := range p.Each(t.Context(), []hosts.Host{web1}, session.Command{Script: "never"}) {
			assert.Equal(t, "web1", h.Name)
			assert.Equal(t, "closed", r.Err.Code)
		}
		p.CloseIdle()
	})
}

func TestCloseStopsEverySessionAndConnection(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("hang", reply{Hang: true, Ignores: "INT TERM KILL"})
		d.On("pwd")
		p := poolOn(t, d, session.PoolConfig{})
		idle := mustOpen(t, p, web1)
		runOK(t, idle, "pwd")
		busy := mustOpen(t, p, web1)
		out := running(t.Context(), busy.Run, session.Command{Script: "hang"})
		began := time.Now()
		require.NoError(t, p.Close())
		assert.Zero(t, time.Since(began))
		end := <-out
		assert.Equal(t, session.StatusCanceled, end.r.Status, "%v", end.err)
		assert.True(t, end.r.MayRun)
		assert.Zero(t, d.Open("web1"))
		_, err := idle.Run(t.Context(), session.Command{Script: "never"})
		assert.ErrorIs(t, err, session.ErrClosed)
	})
}

func TestCloseEndsDialsAndTheWaitForThem(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.Fault("web1", faults{Slow: make(chan struct{})})
		p := poolOn(t, d, session.PoolConfig{MaxDials: 1})
		var outs []<-chan ended
		for _, h := range []hosts.Host{web1, web1, {Name: "web2"}} {
			outs = append(outs, running(t.Context(), func(ctx context.Context, c session.Command) (session.Result, error) {
				return p.Run(ctx, h, c)
			}, session.Command{Script: "never"}))
		}
		require.NoError(t, p.Close())
		for _, out := range outs {
			end := <-out
			assert.Equal(t, session.StatusCanceled, end.r.Status)
			assert.Equal(t, "closed", asError(t, end.err).Code)
			assert.False(t, asError(t, end.err).Sent)
		}
		assert.Zero(t, d.Dialed("web2"))
	})
}

// A dialer may be deaf to its context. Close waits for it, and what it brings is closed.
func TestDialThatSucceedsAfterCloseIsClosed(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		cfg := session.PoolConfig{Session: permissive()}
		cfg.Dial = func(_ context.Context, h hosts.Host) (session.Transport, error) {
			time.Sleep(time.Minute)
			return d.Dial(context.Background(), h)
		}
		p, err := session.NewPool(cfg)
		require.NoError(t, err)
		out := running(t.Context(), func(ctx context.Context, c session.Command) (session.Result, error) {
			return p.Run(ctx, web1, c)
		}, session.Command{Script: "never"})
		began := time.Now()
		require.NoError(t, p.Close())
		assert.Equal(t, time.Minute, time.Since(began))
		assert.Equal(t, session.StatusCanceled, (<-out).r.Status)
		assert.Equal(t, 1, d.Dialed("web1"))
		assert.Zero(t, d.Open("web1"))
		assert.Zero(t, p.Stats().Dialed, "nobody could use it")
	})
}

func TestCloseDuringAPing(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("pwd")
		p := poolOn(t, d, session.PoolConfig{})
		pooled(t, p)
		d.Fault("web1", faults{PingSlow: make(chan struct{})})
		time.Sleep(time.Minute)
		out := running(t.Context(), func(ctx context.Context, c session.Command) (session.Result, error) {
			return p.Run(ctx, web1, c)
		}, session.Command{Script: "never"})
		began := time.Now()
		require.NoError(t, p.Close())
		assert.Zero(t, time.Since(began))
		end := <-out
		assert.Equal(t, "closed", asError(t, end.err).Code)
	})
}

func TestShutdownWaitsUntilEverySessionHasBeenClosed(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, d *sessiontest.Dialer, s *session.Session){
		"a session that never ran anything": func(*testing.T, *sessiontest.Dialer, *session.Session) {},
		"a session that is idle":            func(t *testing.T, d *sessiontest.Dialer, s *session.Session) { d.On("pwd"); runOK(t, s, "pwd") },
		"a session that lost its connection": func(t *testing.T, d *sessiontest.Dialer, s *session.Session) {
			d.On("pwd")
			runOK(t, s, "pwd")
			d.Break("web1")
		},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
				p := poolOn(t, d, session.PoolConfig{})
				s := mustOpen(t, p, web1)
				prepare(t, d, s)
				began := time.Now()
				time.AfterFunc(time.Hour, func() { s.Close() })
				require.NoError(t, p.Shutdown(t.Context()))
				assert.Equal(t, time.Hour, time.Since(began))
				assert.Zero(t, d.Open("web1"))
			})
		})
	}
}

func TestShutdownLetsCommandsEndButTakesNoNewSessions(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.OnFunc("work", func(*sessiontest.Call) reply { time.Sleep(time.Minute); return reply{Stdout: "done"} })
		p := poolOn(t, d, session.PoolConfig{})
		out := running(t.Context(), func(ctx context.Context, c session.Command) (session.Result, error) {
			return p.Run(ctx, web1, c)
		}, session.Command{Script: "work"})
		down := make(chan error, 1)
		go func() { down <- p.Shutdown(t.Context()) }()
		synctest.Wait()
		_, err := p.Open(web1)
		assert.ErrorIs(t, err, session.ErrClosed)
		end := <-out
		require.NoError(t, end.err)
		assert.Equal(t, "done", string(end.r.Stdout))
		assert.NoError(t, <-down)
	})
}

func TestShutdownClosesWhatIsLeftWhenItsContextEnds(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("hang", reply{Hang: true})
		p := poolOn(t, d, session.PoolConfig{})
		s := mustOpen(t, p, web1)
		out := running(t.Context(), s.Run, session.Command{Script: "hang"})
		cause := errors.New("enough")
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Minute, cause)
		defer cancel()
		began := time.Now()
		assert.ErrorIs(t, p.Shutdown(ctx), cause)
		assert.Equal(t, time.Minute, time.Since(began))
		assert.Equal(t, session.StatusCanceled, (<-out).r.Status)
		assert.NoError(t, p.Shutdown(t.Context()), "nothing is left")
	})
}

package session_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

// Each rung has its grace, and what worked is told.
func TestLadderStopsACommandAtTheFirstStepThatWorks(t *testing.T) {
	const grace = 2 * time.Second
	for _, c := range []struct {
		name    string
		reply   reply
		grace   time.Duration
		step    string
		took    time.Duration
		exit    int // -1: nobody knows
		mayRun  bool
		restart bool
	}{
		{name: "it obeys the keyboard", reply: reply{Hang: true}, step: "INT", exit: 130},
		{name: "it ignores the keyboard", reply: reply{Hang: true, Ignores: "INT"}, step: "TERM", took: grace, exit: 143},
		{name: "it ignores what is polite", reply: reply{Hang: true, Ignores: "INT TERM"}, step: "KILL", took: 2 * grace, exit: 137},
		{name: "it cannot be killed", reply: reply{Hang: true, Ignores: "INT TERM KILL"}, step: "shell", took: 3 * grace, exit: -1, mayRun: true, restart: true},
		{name: "it has no processes", reply: reply{Hang: true, Ignores: "INT", Builtin: true}, step: "shell", took: grace + grace/4, exit: -1, mayRun: true, restart: true},
		{name: "there is no grace", reply: reply{Hang: true}, grace: -1, step: "shell", exit: -1, mayRun: true, restart: true},
		{name: "the grace is longer", reply: reply{Hang: true, Ignores: "INT"}, grace: time.Minute, step: "TERM", took: time.Minute, exit: 143},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
				d.On("cd", reply{Dir: "/srv"})
				d.On("work", c.reply)
				d.On("next")
				cfg := permissive()
				cfg.Grace = c.grace
				var steps []string
				cfg.Trace = &session.Trace{LadderStep: func(_ context.Context, _ hosts.Host, _, step string) { steps = append(steps, step) }}
				s := on(t, d, web1, cfg)
				runOK(t, s, "cd")
				began := time.Now()
				r, err := s.Run(t.Context(), session.Command{Script: "work", Timeout: 10 * time.Second})
				assert.Equal(t, 10*time.Second+c.took, time.Since(began))
				assert.Equal(t, session.StatusTimeout, r.Status)
				assert.Equal(t, "timeout", asError(t, err).Code)
				assert.ErrorContains(t, err, "stopped after 10s")
				assert.Equal(t, c.step, r.StoppedBy)
				assert.Equal(t, c.step, steps[len(steps)-1])
				assert.Equal(t, c.mayRun, r.MayRun)
				if c.exit < 0 {
					assert.Nil(t, r.ExitCode)
				} else {
					assert.Equal(t, c.exit, *r.ExitCode)
				}
				r = runOK(t, s, "next")
				assert.Equal(t, c.restart, r.ShellRestarted)
				assert.Equal(t, "/srv", r.Dir)
			})
		})
	}
}

func TestLadderOnAFullConnectionGoesOnToANewShell(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.Fault("web1", faults{MaxSessions: 1})
		d.On("work", reply{Hang: true, Ignores: "INT"})
		s := on(t, d, web1, permissive())
		r, _ := s.Run(t.Context(), session.Command{Script: "work", Timeout: time.Second})
		assert.Equal(t, "shell", r.StoppedBy)
		assert.True(t, r.MayRun)
	})
}

// What sends signals waits for a place on a full host no longer than a step takes, and before the first one, where the key can be
// typed instead, not at all.
func TestTheLadderDoesNotWaitLongOnAFullHost(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("open")
		d.On("hang", reply{Hang: true})
		d.On("hears", reply{Hang: true})
		d.On("work", reply{Hang: true, Ignores: "INT"})
		d.Fault("web1", faults{MaxSessions: 1})
		p := poolOn(t, d, session.PoolConfig{})
		open := fillUp(t, p)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		var outs []<-chan ended
		for range 4 { // the places of commands
			outs = append(outs, running(ctx, func(ctx context.Context, c session.Command) (session.Result, error) { return p.Run(ctx, web1, c) }, session.Command{Script: "hang"}))
		}
		synctest.Wait()
		for script, want := range map[string]struct {
			step string
			took time.Duration
		}{"hears": {"INT", time.Second}, "work": {"shell", 9 * time.Second}} {
			began := time.Now()
			r, _ := open[0].Run(t.Context(), session.Command{Script: script, Timeout: time.Second})
			assert.Equal(t, want.step, r.StoppedBy, script)
			assert.Equal(t, want.took, time.Since(began), script)
		}
		stop()
		for _, out := range outs {
			<-out
		}
	})
}

func TestCommandThatEndsInTimeIsNotStopped(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.OnFunc("work", func(*sessiontest.Call) reply { time.Sleep(9 * time.Second); return reply{} })
		d.On("next")
		s := on(t, d, web1, permissive())
		r, err := s.Run(t.Context(), session.Command{Script: "work", Timeout: 10 * time.Second})
		require.NoError(t, err)
		assert.Equal(t, session.StatusOK, r.Status)
		assert.Empty(t, r.StoppedBy)
		time.Sleep(time.Minute)
		runOK(t, s, "next")
	})
}

// Two reasons to stop are one ladder, and the first one is told.
func TestFirstReasonToStopIsTheOneThatIsTold(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("work", reply{Hang: true, Ignores: "INT"})
		cfg := permissive()
		var steps []string
		cfg.Trace = &session.Trace{LadderStep: func(_ context.Context, _ hosts.Host, _, step string) { steps = append(steps, step) }}
		s := on(t, d, web1, cfg)
		x := begun(t, s, session.Command{Script: "work", Timeout: time.Second})
		time.Sleep(1500 * time.Millisecond) // between INT and TERM
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(x.Stop)
		}
		wg.Wait()
		assert.Equal(t, session.StatusTimeout, x.Result().Status)
		assert.Equal(t, []string{"INT", "TERM"}, steps)
	})
}

// The end of a command and its stop may meet. The next command must not be hit.
func TestLateStopNeverHitsTheNextCommand(t *testing.T) {
	t.Run("long after the end", func(t *testing.T) {
		inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
			d.On("quick")
			d.OnFunc("victim", mustNotBeInterrupted(t))
			s := on(t, d, web1, permissive())
			x := begun(t, s, session.Command{Script: "quick"})
			out := running(t.Context(), s.Run, session.Command{Script: "victim"})
			x.Stop()
			assert.Equal(t, session.StatusOK, (<-out).r.Status)
			assert.Equal(t, session.StatusOK, x.Result().Status)
		})
	})
	t.Run("with the end", func(t *testing.T) {
		d := sessiontest.NewDialer(t)
		d.On("quick")
		d.OnFunc("victim", func(c *sessiontest.Call) reply {
			select {
			case <-c.Interrupted:
				return reply{Exit: 130}
			default:
				return reply{}
			}
		})
		s := on(t, d, web1, permissive())
		for range 2000 {
			x, err := s.Start(t.Context(), session.Command{Script: "quick"})
			require.NoError(t, err)
			go x.Stop()
			<-x.Done()
			runOK(t, s, "victim")
		}
	})
}

func mustNotBeInterrupted(t *testing.T) func(c *sessiontest.Call) reply {
	return func(c *sessiontest.Call) reply {
		select {
		case <-c.Interrupted:
			t.Error("interrupted")
		case <-c.HungUp:
			t.Error("hung up")
		case <-time.After(time.Minute):
		}
		return reply{}
	}
}

// Everything at once, on one session: nobody hangs, panics, or gets a Result that is not one.
func TestSessionStandsManyHandsAtOnce(t *testing.T) {
	d := sessiontest.NewDialer(t)
	d.On("quick", reply{Stdout: "x"})
	d.On("hang", reply{Hang: true})
	d.On("stubborn", reply{Hang: true, Ignores: "INT TERM KILL"})
	d.On("exit", reply{Ends: true})
	cfg := permissive()
	cfg.Grace = time.Millisecond
	p := poolOn(t, d, session.PoolConfig{Session: cfg})
	s := mustOpen(t, p, web1)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 150 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(j%5)*time.Millisecond)
				script := []string{"quick", "hang", "stubborn", "exit"}[(i+j)%4]
				r, err := s.Run(ctx, session.Command{Script: script, Timeout: time.Duration(1+j%3) * time.Millisecond})
				cancel()
				known := []session.Status{session.StatusOK, session.StatusTimeout, session.StatusCanceled, session.StatusError}
				assert.True(t, slices.Contains(known, r.Status), "%s: %s: %v", script, r.Status, err)
				assert.Equal(t, session.Done, r.State)
				if i == 0 && j%10 == 0 {
					s.Reset()
				}
			}
		})
	}
	wg.Wait()
	runOK(t, s, "quick")
	assert.Equal(t, 1, d.Dialed("web1"), fmt.Sprint(p.Stats()))
}

func TestStopWhileTheShellStartsSendsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.Fault("web1", faults{Mute: true})
		s := on(t, d, web1, permissive())
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r, err := s.Run(ctx, session.Command{Script: "never"})
		assert.Equal(t, session.StatusCanceled, r.Status)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		synctest.Wait()
		assert.Zero(t, d.Typed("web1"))
	})
}

package session_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

func TestHostsShareAConnectionOnlyIfTheyAreReachedTheSameWay(t *testing.T) {
	base := hosts.Host{Name: "web1", Addr: "10.0.0.1", Port: 22, User: "ada", Via: []string{"a", "b"}, Identity: []string{"k1", "k2"}}
	differ := map[string]func(*hosts.Host){
		"address":             func(h *hosts.Host) { h.Addr = "10.0.0.2" },
		"port":                func(h *hosts.Host) { h.Port = 2222 },
		"user":                func(h *hosts.Host) { h.User = "bob" },
		"route":               func(h *hosts.Host) { h.Via = []string{"a"} },
		"order of the route":  func(h *hosts.Host) { h.Via = []string{"b", "a"} },
		"cut of the route":    func(h *hosts.Host) { h.Via, h.Identity = []string{"a"}, []string{"b", "k1", "k2"} },
		"identity":            func(h *hosts.Host) { h.Identity = []string{"k2", "k1"} },
		"only its identity":   func(h *hosts.Host) { h.IdentityOnly = true },
		"no login":            func(h *hosts.Host) { h.NoLogin = "no key" },
		"no identity":         func(h *hosts.Host) { h.Identity = nil },
		"ssh configuration":   func(h *hosts.Host) { h.SSHConfig = "none" },
		"transport":           func(h *hosts.Host) { h.Transport = hosts.Local },
		"command":             func(h *hosts.Host) { h.Command = []string{"docker", "exec"} },
		"identity or command": func(h *hosts.Host) { h.Identity, h.Command = []string{"k1"}, []string{"k2"} },
	}
	keys := map[string]string{session.ConnKey(base): "the base"}
	for name, change := range differ {
		h := base
		change(&h)
		assert.NotContains(t, keys, session.ConnKey(h), "%s is as %s", name, keys[session.ConnKey(h)])
		keys[session.ConnKey(h)] = name
	}
	same := base
	same.Labels, same.Tier, same.Groups, same.Shell, same.Env = map[string]string{"a": "b"}, "dev", []string{"g"}, "zsh", []string{"A=1"}
	assert.Equal(t, session.ConnKey(base), session.ConnKey(same))
	ports := map[string]bool{}
	for port := range 1 << 16 {
		h := base
		h.Port = uint16(port)
		ports[session.ConnKey(h)] = true
	}
	assert.Len(t, ports, 1<<16, "every port counts")
}

func TestPoolSharesConnectionsAndNeverShells(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("cd", reply{Dir: "/srv"})
		d.On("pwd")
		p := poolOn(t, d, session.PoolConfig{})
		a, b := mustOpen(t, p, web1), mustOpen(t, p, web1)
		assert.Zero(t, d.Dialed("web1"), "nothing is dialed before the first command")
		runOK(t, a, "cd")
		assert.Equal(t, "/home/test", runOK(t, b, "pwd").Dir)
		assert.Equal(t, 1, d.Dialed("web1"))
		require.NoError(t, a.Close())
		r, err := p.Run(t.Context(), web1, session.Command{Script: "pwd"})
		require.NoError(t, err)
		assert.Equal(t, "/home/test", r.Dir)
		assert.Equal(t, 1, d.Dialed("web1"))
		runOK(t, mustOpen(t, p, hosts.Host{Name: "web2"}), "pwd")
		assert.Equal(t, 1, d.Dialed("web2"))
		synctest.Wait() // for the end of Run's shell
		s := p.Stats()
		assert.Equal(t, session.Stats{Used: 2, Sessions: 2, Acquired: 4, Waited: 2, Dialed: 2}, s)
	})
}

// Surplus connections go cold and can be closed, because the one used last is used again.
func TestPoolTakesTheConnectionUsedLast(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("pwd")
		p := poolOn(t, d, session.PoolConfig{MaxSessionsPerConn: 1, IdleTimeout: 10 * time.Minute})
		a, b := mustOpen(t, p, web1), mustOpen(t, p, web1)
		runOK(t, a, "pwd")
		runOK(t, b, "pwd")
		require.Equal(t, 2, d.Open("web1"))
		require.NoError(t, a.Close())
		time.Sleep(5 * time.Minute)
		require.NoError(t, b.Close())
		time.Sleep(4 * time.Minute)
		runOK(t, mustOpen(t, p, web1), "pwd")
		time.Sleep(2 * time.Minute)
		assert.Equal(t, 1, d.Open("web1"), "the other one is closed after 11 minutes")
		time.Sleep(time.Hour)
		assert.Equal(t, 1, d.Open("web1"))
	})
}

func TestPoolFillsConnectionsThenMakesMoreThenLetsWait(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("hang", reply{Hang: true})
		p := poolOn(t, d, session.PoolConfig{MaxConnsPerHost: 2, MaxSessionsPerConn: 3})
		var open []*session.Session
		for i := range 6 {
			s := mustOpen(t, p, web1)
			open = append(open, s)
			begun(t, s, session.Command{Script: "hang"})
			assert.Equal(t, 1+i/3, d.Dialed("web1"), "session %d", i+1)
		}
		out := running(t.Context(), sessionOn(p), session.Command{Script: "hang", Timeout: time.Second, SlotWait: time.Minute})
		s := p.Stats()
		assert.Equal(t, 1, s.Waiting)
		assert.Equal(t, 2, s.Used)
		assert.Equal(t, 6, s.Sessions)
		time.Sleep(7 * time.Second)
		require.NoError(t, open[4].Close())
		end := <-out
		assert.Equal(t, session.StatusTimeout, end.r.Status)
		assert.Equal(t, 7*time.Second, end.r.Queue)
		assert.Zero(t, end.r.Dial)
		assert.Equal(t, 2, d.Dialed("web1"))
		assert.Equal(t, 7*time.Second, p.Stats().WaitTime)
	})
}

// sessionOn runs a command in a session on web1 that is open as long: it uses the slots of sessions, not those of one-off
// commands.
func sessionOn(p *session.Pool) func(context.Context, session.Command) (session.Result, error) {
	return func(ctx context.Context, c session.Command) (session.Result, error) {
		s, err := p.Open(web1)
		if err != nil {
			return session.Result{}, err
		}
		defer s.Close()
		return s.Run(ctx, c)
	}
}

func TestNegativeLimitsAreNone(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("hang", reply{Hang: true})
		p := poolOn(t, d, session.PoolConfig{MaxSessionsPerConn: -1, MaxConnsPerHost: -1, MaxDials: -1, DialTimeout: -1, IdleTimeout: -1, MaxLifetime: -1})
		for range 50 {
			s := mustOpen(t, p, web1)
			go s.Run(t.Context(), session.Command{Script: "hang"})
		}
		synctest.Wait()
		assert.Equal(t, 1, d.Dialed("web1"), "one connection takes all")
		assert.Equal(t, 50, p.Stats().Sessions)
		assert.Len(t, d.Ran("web1"), 50)
	})
}

func TestWaitersAreServedInTheOrderTheyCame(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("*")
		p := poolOn(t, d, session.PoolConfig{MaxConnsPerHost: 1, MaxSessionsPerConn: 1})
		holder := mustOpen(t, p, web1)
		runOK(t, holder, "first")
		var outs []<-chan ended
		want := []string{"first"}
		for i := range 5 {
			want = append(want, fmt.Sprint(i))
			outs = append(outs, running(t.Context(), sessionOn(p), session.Command{Script: fmt.Sprint(i)}))
		}
		assert.Equal(t, 5, p.Stats().Waiting)
		require.NoError(t, holder.Close())
		for _, out := range outs {
			require.NoError(t, (<-out).err)
		}
		assert.Equal(t, want, d.Ran("web1"))
	})
}

// Who waits for a place when a connection ends gets a new one that is made as they would make it: with their SSH agent, say.
func TestAConnectionThatIsMadeForAWaiterIsMadeAsTheirs(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("hold")
		d.On("second")
		type caller struct{}
		var mu sync.Mutex
		var callers []any
		p := poolOn(t, d, session.PoolConfig{MaxConnsPerHost: 1, MaxSessionsPerConn: 1, Dial: func(ctx context.Context, h hosts.Host) (session.Transport, error) {
			mu.Lock()
			defer mu.Unlock()
			callers = append(callers, ctx.Value(caller{}))
			return d.Dial(ctx, h)
		}})
		holder := mustOpen(t, p, web1)
		_, err := holder.Run(context.WithValue(t.Context(), caller{}, "first"), session.Command{Script: "hold"})
		require.NoError(t, err)
		second := running(context.WithValue(t.Context(), caller{}, "second"), sessionOn(p), session.Command{Script: "second"})
		assert.Equal(t, 1, p.Stats().Waiting)
		d.Break("web1")
		assert.NoError(t, (<-second).err)
		assert.Equal(t, []any{"first", "second"}, callers)
	})
}

func TestWaiterWhoGivesUpLeavesHisPlaceToTheNext(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("hold")
		d.On("second")
		p := poolOn(t, d, session.PoolConfig{MaxConnsPerHost: 1, MaxSessionsPerConn: 1})
		holder := mustOpen(t, p, web1)
		runOK(t, holder, "hold")
		run := sessionOn(p)
		cause := errors.New("went home")
		ctx, cancel := context.WithCancelCause(t.Context())
		first := running(ctx, run, session.Command{Script: "first"})
		second := running(t.Context(), run, session.Command{Script: "second"})
		cancel(cause)
		end := <-first
		assert.Equal(t, session.StatusCanceled, end.r.Status)
		assert.ErrorIs(t, end.err, cause)
		assert.False(t, asError(t, end.err).Sent)
		s := p.Stats()
		assert.Equal(t, 1, s.Waiting)
		assert.EqualValues(t, 1, s.Canceled)
		require.NoError(t, holder.Close())
		assert.NoError(t, (<-second).err)
	})
}

func TestPoolLearnsHowManySessionsAConnectionTakes(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.Fault("web1", faults{MaxSessions: 2})
		d.On("pwd")
		p := poolOn(t, d, session.PoolConfig{MaxConnsPerHost: 2})
		var open []*session.Session
		for range 4 {
			s := mustOpen(t, p, web1)
			open = append(open, s)
			r := runOK(t, s, "pwd")
			assert.False(t, r.Reconnected || r.ShellRestarted, "another connection is no news to who had none")
		}
		assert.Equal(t, 2, d.Dialed("web1"))
		fifth := running(t.Context(), sessionOn(p), session.Command{Script: "pwd"})
		assert.Equal(t, 1, p.Stats().Waiting)
		require.NoError(t, open[0].Close())
		assert.NoError(t, (<-fifth).err)
		assert.Equal(t, 2, d.Open("web1"))
	})
}

func TestOtherThingsThanSessionsShareTheirConnections(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.Fault("web1", faults{MaxSessions: 2})
		d.On("pwd")
		p := poolOn(t, d, session.PoolConfig{MaxConnsPerHost: 2})
		s := mustOpen(t, p, web1)
		runOK(t, s, "pwd")
		var streams []session.Stream
		open := func(tr session.Transport) error {
			stream, err := tr.Open(t.Context(), session.Program{Line: framing.Loader(framing.NewToken())})
			if err == nil {
				streams = append(streams, stream)
			}
			return err
		}
		var releases []func()
		for range 2 {
			release, err := session.Lend(t.Context(), p, web1, open)
			require.NoError(t, err)
			releases = append(releases, release)
		}
		assert.Equal(t, 2, d.Dialed("web1"), "the first has room for two")
		assert.Equal(t, 3, p.Stats().Sessions)
		for i, release := range releases {
			require.NoError(t, streams[i].Close())
			release()
		}
		assert.Equal(t, 1, p.Stats().Sessions)
		runOK(t, s, "pwd")

		other := errors.New("not this one")
		_, err := session.Lend(t.Context(), p, web1, func(session.Transport) error { return other })
		require.ErrorIs(t, err, other)
		assert.Equal(t, 1, p.Stats().Sessions, "it is given back")
	})
}

func TestSessionsKeepHalfOfThePlaces(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("pwd")
		p := poolOn(t, d, session.PoolConfig{MaxConnsPerHost: 1, MaxSessionsPerConn: 4})
		lend := func() (func(), error) {
			return session.Lend(t.Context(), p, web1, func(session.Transport) error { return nil })
		}
		first, err := lend()
		require.NoError(t, err)
		second, err := lend()
		require.NoError(t, err)
		_, err = lend()
		require.ErrorIs(t, err, session.ErrFull)
		for range 2 {
			runOK(t, mustOpen(t, p, web1), "pwd")
		}
		first()
		third, err := lend()
		require.NoError(t, err, "there is a place again")
		second()
		last := mustOpen(t, p, web1)
		runOK(t, last, "pwd")
		_, err = lend()
		require.ErrorIs(t, err, session.ErrFull, "sessions have all the others, and nobody is waited for")
		third()
		require.NoError(t, last.Close())
		again, err := lend()
		require.NoError(t, err)
		again()
	})
}

func TestConnectionThatTakesNoSessionAtAllIsAnErrorNotALoop(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.Fault("web1", faults{MaxSessions: 1})
		tr, err := d.Dial(t.Context(), web1)
		require.NoError(t, err)
		defer tr.Close()
		d.On("hold")
		holder, err := session.Open(tr, web1, permissive())
		require.NoError(t, err)
		defer holder.Close()
		runOK(t, holder, "hold")
		other, err := session.Open(tr, web1, permissive())
		require.NoError(t, err)
		defer other.Close()
		r, err := other.Run(t.Context(), session.Command{Script: "hold"})
		assert.ErrorIs(t, err, session.ErrFull)
		assert.Equal(t, session.StatusUnreachable, r.Status)
		assert.Equal(t, "full", asError(t, err).Code)
	})
}

func TestPoolDialsOnlySoManyHostsAtATime(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		slow := make(chan struct{})
		d.On("pwd")
		var mu sync.Mutex
		most, now := 0, 0
		count := func(n int) {
			mu.Lock()
			defer mu.Unlock()
			now += n
			most = max(most, now)
		}
		cfg := session.PoolConfig{MaxDials: 3}
		cfg.Session.Trace = &session.Trace{
			DialStart: func(context.Context, hosts.Host) { count(1) },
			DialDone:  func(context.Context, hosts.Host, session.Peer, time.Duration, error) { count(-1) },
		}
		p := poolOn(t, d, cfg)
		var outs []<-chan ended
		for i := range 10 {
			h := hosts.Host{Name: fmt.Sprintf("web%d", i)}
			d.Fault(h.Name, faults{Slow: slow})
			outs = append(outs, running(t.Context(), func(ctx context.Context, c session.Command) (session.Result, error) {
				return p.Run(ctx, h, c)
			}, session.Command{Script: "pwd"}))
		}
		assert.Equal(t, 3, most)
		assert.Equal(t, 10, p.Stats().Dialing)
		time.Sleep(30 * time.Second)
		close(slow)
		for i, out := range outs {
			end := <-out
			require.NoError(t, end.err)
			if i >= 3 {
				assert.Equal(t, 30*time.Second, end.r.Queue, "waiting for one's turn is not dialing")
				assert.Zero(t, end.r.Dial)
			} else {
				assert.Equal(t, 30*time.Second, end.r.Dial)
				assert.Zero(t, end.r.Queue)
			}
		}
		assert.Equal(t, 3, most)
	})
}

func TestDialOutlivesACallerWhoGivesUpAndServesTheNext(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		slow := make(chan struct{})
		d.Fault("web1", faults{Slow: slow})
		d.On("pwd")
		p := poolOn(t, d, session.PoolConfig{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := p.Run(ctx, web1, session.Command{Script: "pwd"})
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, 1, p.Stats().Dialing)
		close(slow)
		synctest.Wait()
		assert.Equal(t, 1, p.Stats().Idle)
		_, err = p.Run(t.Context(), web1, session.Command{Script: "pwd"})
		require.NoError(t, err)
		assert.Equal(t, 1, d.Dialed("web1"))
	})
}

func TestDialKeepsTheCallersValuesAndEndsAfterItsOwnTime(t *testing.T) {
	inBubble(t, func(t *testing.T, _ *sessiontest.Dialer) {
		type key struct{}
		cfg := session.PoolConfig{Session: permissive(), DialTimeout: 7 * time.Second}
		cfg.Dial = func(ctx context.Context, _ hosts.Host) (session.Transport, error) {
			assert.Equal(t, "value", ctx.Value(key{}))
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}
		p, err := session.NewPool(cfg)
		require.NoError(t, err)
		defer p.Close()
		began := time.Now()
		r, err := p.Run(context.WithValue(t.Context(), key{}, "value"), web1, session.Command{Script: "never"})
		assert.Equal(t, 7*time.Second, time.Since(began))
		assert.Equal(t, session.StatusUnreachable, r.Status)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, 7*time.Second, r.Dial)
	})
}

func TestDialThatFailsIsToldToAllWhoWaitAndNotTriedAgain(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		status session.Status
		again  bool
	}{
		"unreachable": {errors.New("connection refused"), session.StatusUnreachable, true},
		"auth":        {fmt.Errorf("%w: no key is accepted", session.ErrAuth), session.StatusAuth, false},
		"hostkey":     {fmt.Errorf("%w: changed", session.ErrHostKey), session.StatusHostKey, false},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
				slow := make(chan struct{})
				d.Fault("web1", faults{Slow: slow, Dial: c.err})
				tries := 0
				cfg := session.PoolConfig{}
				cfg.Session.Trace = &session.Trace{DialStart: func(context.Context, hosts.Host) { tries++ }}
				p := poolOn(t, d, cfg)
				var outs []<-chan ended
				for range 5 {
					outs = append(outs, running(t.Context(), func(ctx context.Context, cmd session.Command) (session.Result, error) {
						return p.Run(ctx, web1, cmd)
					}, session.Command{Script: "never"}))
				}
				close(slow)
				for _, out := range outs {
					end := <-out
					e := asError(t, end.err)
					assert.Equal(t, c.status, end.r.Status)
					assert.Equal(t, name, e.Code)
					assert.ErrorIs(t, e, c.err)
					assert.False(t, e.Sent)
					assert.Equal(t, c.again, e.Retriable)
				}
				assert.Equal(t, 1, tries)
				assert.Zero(t, session.Keys(p), "nothing is remembered of a host that nobody reached")
				assert.Zero(t, p.Stats().Waited, "nobody got a place")
			})
		})
	}
}

package session_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/localpty"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

// programs watches the programs that are started on a host.
type programs struct {
	mu    sync.Mutex
	all   []session.Stream
	stuck chan struct{} // if not nil, streams close when it is closed
	full  bool          // there is room for one at a time
	open  int
}

func (p *programs) dial(dial func(context.Context, hosts.Host) (session.Transport, error)) func(context.Context, hosts.Host) (session.Transport, error) {
	return func(ctx context.Context, h hosts.Host) (session.Transport, error) {
		t, err := dial(ctx, h)
		return watchedTransport{t, p}, err
	}
}

func (p *programs) count() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.all)
}

// last is the one that was started last.
func (p *programs) last() session.Stream {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.all[len(p.all)-1]
}

type watchedTransport struct {
	session.Transport
	p *programs
}

func (t watchedTransport) Open(ctx context.Context, prog session.Program) (session.Stream, error) {
	t.p.mu.Lock()
	if t.p.full && t.p.open > 0 {
		t.p.mu.Unlock()
		return nil, session.ErrFull
	}
	t.p.open++
	t.p.mu.Unlock()
	s, err := t.Transport.Open(ctx, prog)
	t.p.mu.Lock()
	defer t.p.mu.Unlock()
	if err != nil {
		t.p.open--
		return nil, err
	}
	t.p.all = append(t.p.all, s)
	return &watchedStream{Stream: s, p: t.p}, nil
}

type watchedStream struct {
	session.Stream
	p    *programs
	once sync.Once
}

func (s *watchedStream) Close() error {
	if s.p.stuck != nil {
		<-s.p.stuck
	}
	err := s.Stream.Close()
	s.once.Do(func() {
		s.p.mu.Lock()
		defer s.p.mu.Unlock()
		s.p.open--
	})
	return err
}

// watched is a pool whose programs are counted.
func watched(t *testing.T, d *sessiontest.Dialer, cfg session.PoolConfig) (*session.Pool, *programs) {
	w := &programs{}
	cfg.Dial = w.dial(d.Dial)
	cfg.Session.Policy, cfg.Session.Audit = permissive().Policy, permissive().Audit
	p, err := session.NewPool(cfg)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, p.Close())
		s := p.Stats()
		require.Zero(t, s.Dialing+s.Idle+s.Used+s.Sessions+s.Waiting+s.Warm+s.Closing, "after Close: %+v", s)
	})
	return p, w
}

func TestAShellIsStartedAheadWhereOneOneOffFollowsAnother(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("pwd")
		p, w := watched(t, d, session.PoolConfig{})
		warm := func() int { synctest.Wait(); return p.Stats().Warm }
		pooled(t, p)
		assert.Zero(t, warm(), "one command is no reason")
		time.Sleep(time.Minute + time.Second)
		pooled(t, p)
		assert.Zero(t, warm(), "the one before was long ago")
		time.Sleep(time.Minute - time.Second)
		pooled(t, p)
		assert.Equal(t, 1, warm())
		assert.Equal(t, 1, p.Stats().Idle, "a shell that waits is no use of a connection")
		before := w.count()
		time.Sleep(time.Second)
		r := pooled(t, p)
		assert.False(t, r.ShellRestarted)
		assert.Zero(t, r.Dial)
		assert.Equal(t, 1, warm(), "each is used once")
		assert.Equal(t, before+1, w.count(), "the command has started none")
		time.Sleep(time.Minute)
		assert.Zero(t, warm(), "it waits for a minute")
		assert.Equal(t, 1, d.Dialed("web1"))
		assert.EqualValues(t, 4, p.Stats().Acquired)
	})
}

func TestAsManyShellsAreStartedAheadAsRanAtATime(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.OnFunc("pwd", func(*sessiontest.Call) reply { time.Sleep(time.Second); return reply{} })
		p, w := watched(t, d, session.PoolConfig{})
		round := func(n int) {
			var wg sync.WaitGroup
			for range n {
				wg.Go(func() { pooled(t, p) })
			}
			wg.Wait()
			synctest.Wait()
		}
		round(3)
		assert.Equal(t, 3, p.Stats().Warm)
		before := w.count()
		round(3)
		assert.Equal(t, before+3, w.count(), "those for the next round")
		round(8)
		assert.Equal(t, 4, p.Stats().Warm, "the most on one host")
	})
}

func TestMaxWarmBoundsTheShellsOfAllHosts(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("pwd")
		p, _ := watched(t, d, session.PoolConfig{MaxWarm: 3})
		var all []hosts.Host
		for i := range 10 {
			all = append(all, hosts.Host{Name: fmt.Sprint("h", i)})
		}
		for range 3 {
			for _, r := range p.Each(t.Context(), all, session.Command{Script: "pwd"}) {
				require.NoError(t, errOf(r))
			}
		}
		synctest.Wait()
		assert.Zero(t, p.Stats().Warm, "none is started while hosts of the same run may go on")
		time.Sleep(time.Second)
		synctest.Wait()
		assert.Equal(t, 3, p.Stats().Warm)
		p.CloseIdle()
		synctest.Wait()
		s := p.Stats()
		assert.Zero(t, s.Warm+s.Idle+s.Used, "%+v", s)
	})
}

func TestTheShellsOfARunOnManyHostsEndALittleLater(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("pwd")
		p, w := watched(t, d, session.PoolConfig{})
		// As rollout does it: a call for each host.
		for _, name := range []string{"a", "b", "a", "b"} {
			_, err := p.Run(t.Context(), hosts.Host{Name: name}, session.Command{Script: "pwd", Group: "g_1"})
			require.NoError(t, err)
		}
		synctest.Wait()
		assert.Equal(t, 4, p.Stats().Closing)
		assert.Equal(t, 4, w.count(), "nor is another one started")
		time.Sleep(300 * time.Millisecond)
		synctest.Wait()
		assert.Zero(t, p.Stats().Closing)
		time.Sleep(300 * time.Millisecond)
		synctest.Wait()
		assert.Equal(t, 2, p.Stats().Warm)
	})
}

func errOf(r session.Result) error {
	if r.Err != nil {
		return r.Err
	}
	return nil
}

func TestAShellThatWaitsHoldsNoSlotThatASessionNeeds(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("pwd")
		p, _ := watched(t, d, session.PoolConfig{MaxConnsPerHost: 1, MaxSessionsPerConn: 2})
		pooled(t, p)
		pooled(t, p)
		synctest.Wait()
		require.Equal(t, 1, p.Stats().Warm)
		a, b := mustOpen(t, p, web1), mustOpen(t, p, web1)
		runOK(t, a, "pwd")
		assert.Equal(t, 1, p.Stats().Warm)
		runOK(t, b, "pwd")
		assert.Zero(t, p.Stats().Warm)
		assert.Equal(t, 1, d.Dialed("web1"))
		pooled(t, p) // on a spare connection, for which a shell may wait too
		synctest.Wait()
		assert.Equal(t, 2, p.Stats().Sessions)
	})
}

func TestAShellThatWaitsMakesRoomOnAServerThatHasLessThanWasThought(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("pwd")
		p, w := watched(t, d, session.PoolConfig{})
		pooled(t, p)
		pooled(t, p)
		synctest.Wait()
		require.Equal(t, 1, p.Stats().Warm)
		w.mu.Lock()
		w.full = true
		w.mu.Unlock()
		runOK(t, mustOpen(t, p, web1), "pwd")
		assert.Zero(t, p.Stats().Warm)
		assert.Equal(t, 1, d.Dialed("web1"))
	})
}

func TestShellsAreNotSharedByWhoeverDiffers(t *testing.T) {
	env := hosts.Host{Name: "web1", Env: []string{"A=1"}}
	for name, other := range map[string]struct {
		h      hosts.Host
		change func(*session.Config)
	}{
		"principal": {web1, func(c *session.Config) { c.Principal = "agent:other" }},
		"clean":     {web1, func(c *session.Config) { c.CleanEnv = true }},
		"variables": {env, func(*session.Config) {}},
		"shell":     {hosts.Host{Name: "web1", Shell: "dash"}, func(*session.Config) {}},
		"login":     {hosts.Host{Name: "web1", Login: true}, func(*session.Config) {}},
		"place": {web1, func(c *session.Config) {
			c.Program = func(p session.Program) (session.Program, error) { return p, nil }
		}},
		"no one-off": {web1, func(c *session.Config) { c.OneOff = false }},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
				d.On("pwd")
				p, w := watched(t, d, session.PoolConfig{})
				pooled(t, p)
				pooled(t, p)
				synctest.Wait()
				require.Equal(t, 1, p.Stats().Warm)
				open := func(h hosts.Host, change func(*session.Config)) int {
					before := w.count()
					s, err := p.OpenWith(h, func(c *session.Config) { c.OneOff = true; change(c) })
					require.NoError(t, err)
					defer s.Close()
					r, err := s.Run(t.Context(), session.Command{Script: "pwd"})
					require.NoError(t, err)
					assert.Equal(t, "session", r.Lane)
					return w.count() - before
				}
				assert.Equal(t, 1, open(other.h, other.change), "it has a shell of its own")
				synctest.Wait()
				assert.Equal(t, 1, p.Stats().Warm)
				assert.Zero(t, open(web1, func(*session.Config) {}), "the same again")
			})
		})
	}
}

func TestADeadSpareIsNoError(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("pwd")
		p, w := watched(t, d, session.PoolConfig{})
		for range 2 {
			pooled(t, p)
		}
		synctest.Wait()
		require.Equal(t, 1, p.Stats().Warm)
		require.NoError(t, w.last().Close())
		synctest.Wait()
		r := pooled(t, p)
		assert.False(t, r.ShellRestarted)
		synctest.Wait()
		require.Equal(t, 1, p.Stats().Warm)
		d.Break("web1") // with its connection
		synctest.Wait()
		r = pooled(t, p)
		assert.False(t, r.ShellRestarted)
		assert.False(t, r.Reconnected)
		assert.Equal(t, 2, d.Dialed("web1"))
	})
}

func TestWhatMayChangeAShellsStartEndsThoseThatWait(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("pwd")
		d.On("make install")
		p, w := watched(t, d, session.PoolConfig{})
		s := mustOpen(t, p, web1)
		runOK(t, s, "pwd")
		pooled(t, p)
		pooled(t, p)
		synctest.Wait()
		require.Equal(t, 1, p.Stats().Warm)
		before := w.count()
		runOK(t, s, "pwd")
		synctest.Wait()
		assert.Equal(t, 1, p.Stats().Warm, "a read changes nothing")
		runOK(t, s, "make install")
		synctest.Wait()
		assert.Zero(t, p.Stats().Warm)
		runOK(t, s, "make install")
		time.Sleep(time.Second)
		assert.Equal(t, 1, p.Stats().Warm, "another is ready when the session has paused")
		assert.Equal(t, before+1, w.count())
	})
}

// What a command writes into a start file is there for the next one, as it would be without spares.
func TestACommandSeesWhatTheOneBeforeWroteIntoStartFiles(t *testing.T) {
	needShell(t, "bash")
	home := t.TempDir()
	profile := filepath.Join(home, ".bash_profile")
	require.NoError(t, os.WriteFile(profile, []byte("N=0\n"), 0o600))
	p, err := session.NewPool(session.PoolConfig{Session: permissive(), Dial: func(context.Context, hosts.Host) (session.Transport, error) {
		return localpty.New(localpty.Config{Env: append(os.Environ(), "HOME="+home)})
	}})
	require.NoError(t, err)
	defer p.Close()
	h := hosts.Host{Name: "here", Shell: "bash", Login: true}
	for i := range 6 {
		if i%2 == 1 {
			require.Eventually(t, func() bool { s := p.Stats(); return s.Warm > 0 || i < 2 }, 30*time.Second, 5*time.Millisecond)
		}
		r, err := p.Run(t.Context(), h, session.Command{Script: fmt.Sprintf(`echo "N=$N"; echo N=%d > ~/.bash_profile`, i+1)})
		require.NoError(t, err)
		require.Equal(t, fmt.Sprintf("N=%d\n", i), string(r.Stdout))
	}
}

func TestRunDoesNotWaitForTheEndOfItsShell(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("pwd")
		p, w := watched(t, d, session.PoolConfig{MaxConnsPerHost: 2, MaxSessionsPerConn: 1})
		w.stuck = make(chan struct{})
		pooled(t, p)
		s := p.Stats()
		assert.Equal(t, 1, s.Closing)
		assert.Zero(t, s.Sessions)
		done := make(chan struct{})
		go func() {
			defer close(done)
			pooled(t, p) // waits for the place and makes no connection
		}()
		synctest.Wait()
		assert.Equal(t, 1, p.Stats().Waiting)
		close(w.stuck)
		<-done
		assert.Equal(t, 1, d.Dialed("web1"))
		w2 := &programs{stuck: make(chan struct{})}
		q, err := session.NewPool(session.PoolConfig{Dial: w2.dial(d.Dial), Session: permissive()})
		require.NoError(t, err)
		pooled(t, q)
		closed := make(chan struct{})
		go func() {
			defer close(closed)
			q.Close()
		}()
		synctest.Wait()
		select {
		case <-closed:
			t.Error("Close has not waited")
		default:
		}
		close(w2.stuck)
		<-closed
	})
}

func TestCloseOfAPoolLeavesNoSpare(t *testing.T) {
	needShell(t, "bash")
	mark := sessiontest.NewMark(t)
	p, err := session.NewPool(session.PoolConfig{Session: permissive(), Dial: func(context.Context, hosts.Host) (session.Transport, error) {
		return localpty.New(localpty.Config{Env: mark.On(os.Environ())})
	}})
	require.NoError(t, err)
	defer p.Close()
	h := hosts.Host{Name: "here", Shell: "bash"}
	for range 3 {
		_, err := p.Run(t.Context(), h, session.Command{Script: "true"})
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool { return p.Stats().Warm == 1 && p.Stats().Closing == 0 }, 30*time.Second, 5*time.Millisecond)
	require.Eventually(t, func() bool { return len(mark.Processes(t)) > 0 }, 30*time.Second, 5*time.Millisecond) // it counts from its start on
	require.NoError(t, p.Close())
	require.Eventually(t, func() bool { return len(mark.Processes(t)) == 0 }, 30*time.Second, 5*time.Millisecond, "%s", mark.Describe(t))
	assert.Empty(t, mark.Files(t))
}

// The lane of an agent's one-off on a host with variables is a clean shell that was started ahead, and the session's own is not
// needed.
func TestTheCleanLaneOfAOneOffIsStartedAheadToo(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("pwd")
		p, w := watched(t, d, session.PoolConfig{})
		judge := policy.DeciderFunc(func(context.Context, policy.Request) (policy.Decision, error) {
			return policy.Decision{Verdict: policy.Allow, Class: policy.ReadOnly, Clean: true, Rule: "test"}, nil
		})
		h := hosts.Host{Name: "web1", Env: []string{"A=1"}, Login: true}
		run := func() session.Result {
			s, err := p.OpenWith(h, func(c *session.Config) { c.OneOff, c.Policy, c.Principal = true, judge, "agent:a" })
			require.NoError(t, err)
			defer s.Close()
			r, err := s.Run(t.Context(), session.Command{Script: "pwd"})
			require.NoError(t, err)
			assert.Equal(t, "clean", r.Lane)
			return r
		}
		run()
		run()
		time.Sleep(time.Second)
		require.NotZero(t, p.Stats().Warm)
		before, dialed := w.count(), d.Dialed("web1")
		r := run()
		assert.Zero(t, r.Duration)
		time.Sleep(time.Second)
		assert.LessOrEqual(t, w.count(), before+1, "the next spare")
		assert.Equal(t, dialed, d.Dialed("web1"))
		assert.Equal(t, 1, strings.Count(strings.Join(d.Ran("web1"), "\n"), "pwd")/3)
	})
}

package session_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

// judged allows everything, with what the judge says of it.
func judged(shell string) policy.Decider {
	return policy.DeciderFunc(func(_ context.Context, req policy.Request) (policy.Decision, error) {
		rep := judge.Judge(judge.Request{Script: req.Command, Shell: shell})
		return policy.Decision{Verdict: policy.Allow, Class: rep.Class, Rule: "test", Traceless: rep.Traceless}, nil
	})
}

// traceless allows everything as a read that leaves nothing, but what begins with "touch".
var traceless = policy.DeciderFunc(func(_ context.Context, req policy.Request) (policy.Decision, error) {
	d := policy.Decision{Verdict: policy.Allow, Class: policy.ReadOnly, Rule: "test", Traceless: true}
	if strings.HasPrefix(req.Command, "touch") {
		d.Class, d.Traceless = policy.Write, false
	}
	return d, nil
})

// kept is a pool whose programs are counted, with a policy.
func kept(t *testing.T, d *sessiontest.Dialer, decider policy.Decider, cfg session.PoolConfig) (*session.Pool, *programs) {
	w := &programs{}
	cfg.Dial = w.dial(d.Dial)
	cfg.Session.Policy, cfg.Session.Audit = decider, permissive().Audit
	p, err := session.NewPool(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { p.Close() })
	return p, w
}

func runs(t *testing.T, p *session.Pool, script string) session.Result {
	t.Helper()
	r, err := p.Run(t.Context(), hosts.Host{Name: "web1"}, session.Command{Script: script})
	require.NoError(t, err)
	return r
}

func TestAShellThatWasLeftAsItWasRunsTheNextCommand(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("ls")
		d.On("touch x")
		p, w := kept(t, d, traceless, session.PoolConfig{})
		runs(t, p, "ls")
		synctest.Wait()
		assert.Zero(t, p.Stats().Warm, "one command is no reason")
		runs(t, p, "ls")
		synctest.Wait()
		assert.Equal(t, 1, p.Stats().Warm)
		before := w.count()
		for range 50 {
			r := runs(t, p, "ls")
			assert.False(t, r.ShellRestarted)
			synctest.Wait()
			assert.Equal(t, 1, p.Stats().Warm)
		}
		assert.Equal(t, before, w.count(), "no shell was started for them")
		assert.Equal(t, 1, d.Dialed("web1"))

		runs(t, p, "touch x")
		synctest.Wait()
		assert.Equal(t, before+1, w.count(), "what a shell begins with may have changed: the next one is new")
		assert.Equal(t, 1, p.Stats().Warm)
		time.Sleep(time.Minute)
		synctest.Wait()
		assert.Zero(t, p.Stats().Warm, "none waits for more than a minute")
	})
}

func TestAShellIsKeptForFiveMinutesAtMost(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("ls")
		p, w := kept(t, d, traceless, session.PoolConfig{})
		runs(t, p, "ls")
		runs(t, p, "ls")
		synctest.Wait()
		before := w.count()
		for range 9 {
			time.Sleep(30 * time.Second)
			runs(t, p, "ls")
		}
		synctest.Wait()
		assert.Equal(t, before, w.count())
		for range 2 {
			time.Sleep(30 * time.Second)
			runs(t, p, "ls")
		}
		synctest.Wait()
		assert.Equal(t, before+1, w.count(), "another one was started in its place")
		assert.Equal(t, 1, p.Stats().Warm)
	})
}

func TestAShellIsNotKeptWhereTheHostWasChangedMeanwhile(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("ls")
		d.On("touch x")
		release := make(chan struct{})
		d.OnFunc("ls slow", func(*sessiontest.Call) sessiontest.Reply { <-release; return sessiontest.Reply{} })
		p, w := kept(t, d, traceless, session.PoolConfig{})
		runs(t, p, "ls")
		runs(t, p, "ls")
		done := make(chan struct{})
		go func() {
			defer close(done)
			runs(t, p, "ls slow")
		}()
		synctest.Wait()
		runs(t, p, "touch x")
		before := w.count()
		close(release)
		<-done
		synctest.Wait()
		runs(t, p, "ls")
		synctest.Wait()
		assert.Greater(t, w.count(), before, "the shell of ls was older than what touch did")
	})
}

// What a command does to its shell, or who looks at what no two commands may share, is told by the process id of its shell.
func TestWhichCommandsShareAShell(t *testing.T) {
	const parent = "sh -c 'echo $PPID'"
	for _, shell := range shells {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			needShell(t, shell)
			cfg := session.Config{Audit: permissive().Audit, Policy: judged(shell), Grace: 300 * time.Millisecond}
			p, err := session.NewPool(session.PoolConfig{Session: cfg, Dial: func(context.Context, hosts.Host) (session.Transport, error) {
				return transports[0].open(t), nil
			}})
			require.NoError(t, err)
			defer p.Close()
			host := hosts.Host{Name: "host", Shell: shell}
			run := func(cmd session.Command) string {
				r, _ := p.Run(t.Context(), host, cmd)
				return strings.TrimSpace(string(r.Stdout))
			}
			pid := func() string { return run(session.Command{Script: parent}) }
			pid()
			first := pid()
			require.NotEmpty(t, first)
			assert.Equal(t, first, pid())
			assert.Equal(t, first, pid())
			run(session.Command{Script: "ls /etc | wc -l"})
			assert.Equal(t, first, pid())
			run(session.Command{Script: "ls /nonexistent; false"})
			assert.Equal(t, first, pid())
			for _, cmd := range []session.Command{
				{Script: "x=1"}, {Script: "cd /"}, {Script: "echo $$"}, {Script: "ls", Stdin: strings.NewReader("x")}, {Script: "ls", Env: []string{"A=1"}},
				{Script: "ls", Dir: "/"}, {Script: "exit 3"}, {Script: "tail -f /dev/null", Timeout: 50 * time.Millisecond},
				{Script: "sh -c 'kill -TERM $PPID'"}, {Script: "touch /dev/null"}, {Script: "sleep 0 &"}, {Script: "type ls"},
				{Script: "ls", Interactive: true},
			} {
				before := pid()
				require.NotEmpty(t, before)
				require.Equal(t, before, pid(), "it is kept again")
				if cmd.Script == "echo $$" {
					assert.Equal(t, before, run(cmd), "the one that waits")
				} else {
					run(cmd)
				}
				assert.NotEqual(t, before, pid(), "after %s", fmt.Sprint(cmd.Script, cmd.Env, cmd.Dir, cmd.Interactive))
			}
		})
	}
}

// A shell that has been looked at is used again at once, by frames that follow one that it is not waited for.
func TestAKeptShellIsWaitedForOnce(t *testing.T) {
	for _, group := range []string{"", "run"} { // one of many hosts' gets both frames in one piece
		inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
			d.On("ls", sessiontest.Reply{Stdout: "file"})
			d.On("ls late", sessiontest.Reply{Late: "late"})
			p, w := kept(t, d, traceless, session.PoolConfig{})
			run := func(script string) session.Result {
				r, err := p.Run(t.Context(), hosts.Host{Name: "web1"}, session.Command{Script: script, Group: group})
				require.NoError(t, err)
				return r
			}
			run("ls")
			run("ls")
			time.Sleep(time.Second) // one of many is started later
			synctest.Wait()
			before := w.count()
			for range 20 {
				assert.Equal(t, "file", string(run("ls").Stdout))
			}
			assert.Equal(t, before, w.count())
			run("ls late")
			time.Sleep(time.Second)
			synctest.Wait()
			assert.Empty(t, run("ls").Stray, "what came late is not the next command's")
			assert.Equal(t, before+1, w.count())
		})
	}
}

// A command that follows a frame of our own has its output and its errors. However early it is stopped, it is itself that is, and the
// next one has a shell.
func TestACommandIsStoppedBehindAFrameOfOurOwn(t *testing.T) {
	for _, shell := range shells {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			needShell(t, shell)
			cfg := session.Config{Audit: permissive().Audit, Policy: judged(shell), Grace: 300 * time.Millisecond}
			p, err := session.NewPool(session.PoolConfig{Session: cfg, Dial: func(context.Context, hosts.Host) (session.Transport, error) {
				return transports[0].open(t), nil
			}})
			require.NoError(t, err)
			defer p.Close()
			host := hosts.Host{Name: "host", Shell: shell}
			for i := range 10 {
				for range 4 { // errors come by a way of their own, and are still the second frame's
					r, err := p.Run(t.Context(), host, session.Command{Script: "ls /nonexistent; echo here"})
					require.NoError(t, err)
					require.Equal(t, "here\n", string(r.Stdout))
					require.Contains(t, string(r.Stderr), "/nonexistent")
					require.Empty(t, string(r.Stray))
				}
				r, _ := p.Run(t.Context(), host, session.Command{Script: "sleep 1000", Timeout: time.Duration(1+i*150) * time.Microsecond})
				require.Equal(t, session.StatusTimeout, r.Status, "%v", r.Err)
				require.False(t, r.MayRun)
			}
		})
	}
}

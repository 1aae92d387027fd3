package session_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

func TestOpenSaysWhatTheConfigLacks(t *testing.T) {
	_, err := session.Open(nil, web1, session.Config{Audit: permissive().Audit})
	assert.ErrorContains(t, err, "Config.Policy is required")
	_, err = session.Open(nil, web1, session.Config{Policy: policy.AllowAll})
	assert.ErrorContains(t, err, "Config.Audit is required")
	_, err = session.NewPool(session.PoolConfig{Session: permissive()})
	assert.ErrorContains(t, err, "PoolConfig.Dial is required")
	_, err = session.NewPool(session.PoolConfig{Dial: (*sessiontest.Dialer)(nil).Dial})
	assert.ErrorContains(t, err, "Config.Policy is required")
}

func TestSecondCommandIsRefusedWhileOneRuns(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("sleep", reply{Hang: true})
		s := on(t, d, web1, permissive())
		x := begun(t, s, session.Command{Script: "sleep"})
		r, err := s.Run(t.Context(), session.Command{Script: "second"})
		e := asError(t, err)
		assert.ErrorIs(t, err, session.ErrBusy)
		assert.Equal(t, session.StatusError, r.Status)
		assert.Equal(t, "busy", e.Code)
		assert.Equal(t, x.ID(), e.Exec)
		assert.True(t, e.Retriable)
		assert.False(t, e.Sent)
		y, err := s.Start(t.Context(), session.Command{Script: "third"})
		assert.ErrorIs(t, err, session.ErrBusy)
		assert.Equal(t, session.StatusError, y.Result().Status)
		x.Stop()
		assert.Equal(t, []string{"sleep"}, d.Ran("web1"))
	})
}

func TestClosedSessionRunsNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		s := on(t, d, web1, permissive())
		require.NoError(t, s.Close())
		require.NoError(t, s.Close(), "a second time")
		r, err := s.Run(t.Context(), session.Command{Script: "late"})
		assert.ErrorIs(t, err, session.ErrClosed)
		assert.Equal(t, session.StatusError, r.Status)
		assert.Equal(t, "closed", asError(t, err).Code)
		assert.False(t, asError(t, err).Retriable)
		assert.Equal(t, 1, d.Open("web1"), "the connection is not the session's")
		s.Reset()
	})
}

func TestCloseStopsWhatRuns(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("sleep", reply{Stdout: "so far", Hang: true, Ignores: "INT TERM KILL"})
		s := on(t, d, web1, permissive())
		out := running(t.Context(), s.Run, session.Command{Script: "sleep"})
		began := time.Now()
		require.NoError(t, s.Close())
		assert.Zero(t, time.Since(began), "Close waits for no grace")
		end := <-out
		assert.Equal(t, session.StatusCanceled, end.r.Status)
		assert.True(t, asError(t, end.err).Sent)
		assert.Equal(t, "so far", string(end.r.Stdout))
		assert.True(t, end.r.MayRun)
	})
}

func TestCloseEndsTheWaitForAConnectionOrAShell(t *testing.T) {
	for name, f := range map[string]func() faults{
		"dialing":  func() faults { return faults{Slow: make(chan struct{})} },
		"starting": func() faults { return faults{Mute: true} },
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
				d.Fault("web1", f())
				p := poolOn(t, d, session.PoolConfig{})
				s := mustOpen(t, p, web1)
				out := running(t.Context(), s.Run, session.Command{Script: "never"})
				began := time.Now()
				require.NoError(t, s.Close())
				assert.Zero(t, time.Since(began))
				end := <-out
				assert.Equal(t, session.StatusCanceled, end.r.Status)
				assert.Equal(t, "closed", asError(t, end.err).Code)
				assert.ErrorIs(t, end.err, session.ErrClosed)
				assert.False(t, asError(t, end.err).Sent)
			})
		})
	}
}

func TestCloseDuringALadderDoesNotWaitForItsSteps(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("sleep", reply{Hang: true, Ignores: "INT TERM KILL"})
		s := on(t, d, web1, permissive())
		ctx, cancel := context.WithCancel(t.Context())
		out := running(ctx, s.Run, session.Command{Script: "sleep"})
		cancel()
		synctest.Wait()
		began := time.Now()
		require.NoError(t, s.Close())
		assert.Zero(t, time.Since(began))
		assert.Equal(t, session.StatusCanceled, (<-out).r.Status)
	})
}

func TestResetReplacesTheShellAndKeepsTheDirectory(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("cd", reply{Dir: "/srv/it's\x03"})
		d.On("next")
		s := on(t, d, web1, permissive())
		s.Reset()
		runOK(t, s, "cd")
		synctest.Wait() // the shell's state is looked at after the answer
		s.Reset()
		r := runOK(t, s, "next")
		assert.True(t, r.ShellRestarted)
		assert.False(t, r.Reconnected)
		assert.Equal(t, []string{"cwd"}, r.Restored)
		assert.Equal(t, "/srv/it's\x03", r.Dir)
		assert.Equal(t, "/srv/it's\x03", s.Dir())
		r = runOK(t, s, "next")
		assert.False(t, r.ShellRestarted)
		assert.Empty(t, r.Restored)
	})
}

func TestResetStopsWhatRuns(t *testing.T) {
	for name, f := range map[string]faults{"while it runs": {}, "while its shell starts": {Mute: true}} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
				if !f.Mute {
					d.On("sleep", reply{Hang: true, Ignores: "INT TERM KILL"})
				}
				d.On("next")
				d.Fault("web1", f)
				s := on(t, d, web1, permissive())
				out := running(t.Context(), s.Run, session.Command{Script: "sleep"})
				began := time.Now()
				s.Reset()
				assert.Zero(t, time.Since(began))
				end := <-out
				assert.Equal(t, session.StatusCanceled, end.r.Status)
				assert.Equal(t, "canceled", asError(t, end.err).Code)
				assert.Equal(t, !f.Mute, asError(t, end.err).Sent)
				d.Fault("web1", faults{})
				runOK(t, s, "next")
			})
		})
	}
}

func TestShellThatEndsIsReplacedWithTheNextCommand(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("cd", reply{Dir: "/srv"})
		d.On("exit 3", reply{Exit: 3, Ends: true})
		d.On("kill -9 $$", reply{Killed: 9})
		d.On("next")
		s := on(t, d, web1, permissive())
		runOK(t, s, "cd")
		r, err := s.Run(t.Context(), session.Command{Script: "exit 3"})
		require.NoError(t, err)
		assert.Equal(t, 3, *r.ExitCode)
		assert.Equal(t, session.StatusExit, r.Status)
		r = runOK(t, s, "next")
		assert.True(t, r.ShellRestarted)
		assert.Equal(t, "/srv", r.Dir)
		r, err = s.Run(t.Context(), session.Command{Script: "kill -9 $$"})
		require.NoError(t, err)
		assert.Equal(t, session.StatusSignal, r.Status)
		assert.Equal(t, "KILL", r.Signal)
		assert.Nil(t, r.ExitCode)
		r = runOK(t, s, "next")
		assert.Equal(t, []string{"cwd"}, r.Restored)
	})
}

func TestConnectionLostMidCommandIsLostAndNothingIsSentTwice(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("sleep", reply{Stdout: "half", Hang: true})
		d.On("cd", reply{Dir: "/srv"})
		d.On("next")
		p := poolOn(t, d, session.PoolConfig{})
		s := mustOpen(t, p, web1)
		runOK(t, s, "cd")
		out := running(t.Context(), s.Run, session.Command{Script: "sleep"})
		d.Break("web1")
		end := <-out
		e := asError(t, end.err)
		assert.Equal(t, session.StatusLost, end.r.Status)
		assert.Equal(t, "lost", e.Code)
		assert.ErrorIs(t, e, session.ErrUnknownOutcome)
		assert.True(t, e.Sent)
		assert.False(t, e.Retriable)
		assert.Nil(t, end.r.ExitCode)
		assert.Equal(t, "half", string(end.r.Stdout))
		assert.Equal(t, []string{"cd", "sleep"}, d.Ran("web1"))
		r := runOK(t, s, "next")
		assert.True(t, r.Reconnected)
		assert.Equal(t, "/srv", r.Dir)
	})
}

func TestConnectionLostBetweenCommandsIsMadeAgainAndTold(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("cd", reply{Dir: "/srv"})
		d.On("next")
		p := poolOn(t, d, session.PoolConfig{})
		s := mustOpen(t, p, web1)
		r := runOK(t, s, "cd")
		assert.False(t, r.ShellRestarted || r.Reconnected)
		synctest.Wait() // the shell's state is looked at after the answer
		d.Break("web1")
		synctest.Wait()
		r = runOK(t, s, "next")
		assert.True(t, r.ShellRestarted)
		assert.True(t, r.Reconnected)
		assert.Equal(t, []string{"cwd"}, r.Restored)
		assert.Equal(t, "/srv", r.Dir)
		assert.Equal(t, 2, d.Dialed("web1"))
		r = runOK(t, s, "next")
		assert.False(t, r.ShellRestarted || r.Reconnected)
	})
}

func TestReconnectingIsToldEvenIfItTookTwoCommands(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("next")
		p := poolOn(t, d, session.PoolConfig{})
		s := mustOpen(t, p, web1)
		runOK(t, s, "next")
		d.Break("web1")
		synctest.Wait()
		d.Fault("web1", faults{Dial: session.ErrAuth})
		r, err := s.Run(t.Context(), session.Command{Script: "next"})
		assert.ErrorIs(t, err, session.ErrAuth)
		assert.Equal(t, session.StatusAuth, r.Status)
		d.Fault("web1", faults{})
		r = runOK(t, s, "next")
		assert.True(t, r.Reconnected)
	})
}

func TestSessionOnAConnectionOfTheCallersIsUnreachableOnceThatIsGone(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("next")
		s := on(t, d, web1, permissive())
		runOK(t, s, "next")
		d.Break("web1")
		synctest.Wait()
		r, err := s.Run(t.Context(), session.Command{Script: "next"})
		assert.Equal(t, session.StatusUnreachable, r.Status)
		assert.ErrorIs(t, err, session.ErrClosed)
		assert.False(t, asError(t, err).Sent)
	})
}

func TestShellThatIsNotReadyInTimeIsGivenUpButNotTheConnection(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.Fault("web1", faults{Mute: true})
		d.On("next")
		p := poolOn(t, d, session.PoolConfig{Session: session.Config{Ready: 5 * time.Second}})
		s := mustOpen(t, p, web1)
		began := time.Now()
		r, err := s.Run(t.Context(), session.Command{Script: "next"})
		assert.Equal(t, 5*time.Second, time.Since(began))
		assert.Equal(t, session.StatusUnreachable, r.Status)
		assert.Equal(t, "shell", asError(t, err).Code)
		assert.ErrorContains(t, err, "no shell was ready within 5s")
		assert.False(t, asError(t, err).Sent)
		d.Fault("web1", faults{})
		runOK(t, s, "next")
		assert.Equal(t, 1, d.Dialed("web1"))
	})
}

func TestShellThatIsNotReadyInTimeIsShownWithWhatItPrinted(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.Fault("web1", faults{Nologin: "Choose a cluster: ", Mute: true})
		s := mustOpen(t, poolOn(t, d, session.PoolConfig{Session: session.Config{Ready: 5 * time.Second}}), web1)
		_, err := s.Run(t.Context(), session.Command{Script: "next"})
		assert.ErrorContains(t, err, `no shell was ready within 5s`)
		assert.ErrorContains(t, err, `; it printed "Choose a cluster:"`)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func TestAPasswordThatMustBeChangedFirstEndsTheWaitForAShell(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.Fault("web1", faults{Mute: true, Nologin: "WARNING: Your password has expired.\r\n" +
			"You must change your password now and login again!\r\nChanging password for ada.\r\nCurrent password: "})
		s := mustOpen(t, poolOn(t, d, session.PoolConfig{}), web1)
		began := time.Now()
		r, err := s.Run(t.Context(), session.Command{Script: "next"})
		assert.Zero(t, time.Since(began))
		assert.Equal(t, "shell", asError(t, err).Code)
		assert.False(t, r.Err.Sent)
		assert.ErrorContains(t, err, "the account's password has expired; log in with ssh, change it there, and try again")
	})
}

func TestShellThatTakesNoCommandIsGivenUp(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.Fault("web1", faults{Deaf: true})
		d.On("next")
		s := on(t, d, web1, permissive())
		r, err := s.Run(t.Context(), session.Command{Script: "next"})
		assert.Equal(t, session.StatusLost, r.Status)
		assert.ErrorIs(t, err, session.ErrUnknownOutcome)
		assert.True(t, asError(t, err).Sent)
		d.Fault("web1", faults{})
		runOK(t, s, "next")
	})
}

func TestAccountThatMayNotRunCommandsSaysSoInItsOwnWords(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.Fault("web1", faults{Nologin: "This account is\r\ncurrently not available."})
		s := on(t, d, web1, permissive())
		_, err := s.Run(t.Context(), session.Command{Script: "next"})
		assert.ErrorContains(t, err, `it printed "This account is currently not available."`)
		assert.ErrorContains(t, err, "code 1")
	})
}

func TestExecIsAHandleOnWhatRuns(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("sleep", reply{Stdout: "so far", Stderr: "err", Hang: true})
		s := on(t, d, web1, permissive())
		assert.Equal(t, "web1", s.Host().Name)
		assert.Empty(t, s.Dir())
		x := begun(t, s, session.Command{Script: "sleep"})
		assert.Equal(t, s.ID(), x.Result().Session)
		time.Sleep(3 * time.Second)

		r := x.Result()
		assert.Equal(t, session.Running, r.State)
		assert.Empty(t, r.Status)
		assert.Equal(t, "so far", string(r.Stdout))
		assert.Equal(t, "err", string(r.Stderr))
		assert.EqualValues(t, 6, r.StdoutBytes)
		assert.Equal(t, 3*time.Second, r.Duration)
		assert.Equal(t, x.ID(), r.Exec)
		r.Stdout[0] = 'X' // belongs to the caller
		assert.Equal(t, "so far", string(x.Result().Stdout))

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		r, err := x.Wait(ctx)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.Equal(t, session.Running, r.State, "the end of the wait does nothing to the command")
		select {
		case <-x.Done():
			t.Error("done too early")
		default:
		}

		x.Stop()
		r, err = x.Wait(t.Context())
		require.NoError(t, err)
		assert.Equal(t, session.Done, r.State)
		assert.Equal(t, session.StatusCanceled, r.Status)
		assert.Equal(t, r, x.Result())
		x.Stop()
		assert.Equal(t, r, x.Result(), "a second stop changes nothing")
	})
}

func TestContextOfStartEndsWithTheStart(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("sleep", reply{Hang: true})
		s := on(t, d, web1, permissive())
		ctx, cancel := context.WithCancel(t.Context())
		x, err := s.Start(ctx, session.Command{Script: "sleep"})
		require.NoError(t, err)
		cancel()
		time.Sleep(time.Hour)
		assert.Equal(t, session.Running, x.Result().State)
		x.Stop()

		_, err = s.Start(ctx, session.Command{Script: "never"})
		assert.Equal(t, "canceled", asError(t, err).Code)
	})
}

func TestTraceHearsOfEveryStepOnceWithTheCallersValues(t *testing.T) {
	type key struct{}
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("work", reply{Stdout: "x"})
		var log []string
		note := func(ctx context.Context, s string) {
			who, _ := ctx.Value(key{}).(string)
			log = append(log, s+" "+who)
			require.NoError(t, ctx.Err(), s)
		}
		var dialed, exec string
		trace := &session.Trace{
			DialStart: func(ctx context.Context, _ hosts.Host) { note(ctx, "dial"); dialed = session.ExecOf(ctx) },
			HostKey:   func(ctx context.Context, h hosts.Host, k session.HostKey) { note(ctx, "key "+h.Name+" "+k.Fingerprint) },
			AuthTried: func(ctx context.Context, h hosts.Host, a session.AuthTry) { note(ctx, "tried "+h.Name+" "+a.User) },
			DialDone: func(ctx context.Context, _ hosts.Host, p session.Peer, _ time.Duration, err error) {
				note(ctx, "dialed "+p.Addr)
			},
			Judged: func(ctx context.Context, _ hosts.Host, x string, _ policy.Decision) { note(ctx, "judged"); exec = x },
			Sent: func(ctx context.Context, _ hosts.Host, x string, _ int) {
				note(ctx, "sent")
				assert.Equal(t, x, session.ExecOf(ctx))
			},
			FirstByte: func(ctx context.Context, _ hosts.Host, x string) {
				note(ctx, "first byte")
				assert.Equal(t, x, session.ExecOf(ctx))
			},
			Done: func(ctx context.Context, r session.Result) {
				note(ctx, "done")
				assert.Equal(t, r.Exec, session.ExecOf(ctx))
			},

			ShellRestarted: func(ctx context.Context, _ hosts.Host, _ string) { note(ctx, "restarted") },
			ConnClosed:     func(ctx context.Context, _ hosts.Host, err error) { note(ctx, "closed") },
		}
		cfg := permissive()
		cfg.Trace = trace
		p, err := session.NewPool(session.PoolConfig{Session: cfg, Dial: func(ctx context.Context, h hosts.Host) (session.Transport, error) {
			report := session.TraceDial(ctx)
			report.HostKey(session.HostKey{Fingerprint: "SHA256:x"})
			report.AuthTried(session.AuthTry{User: "ada"})
			return d.Dial(ctx, h)
		}})
		require.NoError(t, err)
		s := mustOpen(t, p, web1)
		for _, who := range []string{"first", "second"} {
			_, err := s.Run(context.WithValue(t.Context(), key{}, who), session.Command{Script: "work"})
			require.NoError(t, err)
			if who == "first" {
				assert.Equal(t, exec, dialed, "the command that the dial was for")
			}
			s.Reset()
		}
		require.NoError(t, p.Close())
		assert.Equal(t, []string{"judged first", "dial first", "key web1 SHA256:x first", "tried web1 ada first", "dialed web1:22 first",
			"sent first", "first byte first", "done first",
			"judged second", "restarted second", "sent second", "first byte second", "done second", "closed "}, log)
	})
}

// A caller who has left is still known to the hooks that come later.
func TestTraceHasTheValuesOfACallerWhoLeft(t *testing.T) {
	type key struct{}
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("cd")
		d.On("work", reply{Hang: true})
		var steps []string
		cfg := permissive()
		cfg.Trace = &session.Trace{
			LadderStep: func(ctx context.Context, _ hosts.Host, _, step string) {
				steps = append(steps, step+" "+ctx.Value(key{}).(string))
				assert.NoError(t, ctx.Err())
			},
			Done: func(ctx context.Context, r session.Result) {
				who, _ := ctx.Value(key{}).(string)
				steps = append(steps, "done "+who)
			},
		}
		s := on(t, d, web1, cfg)
		runOK(t, s, "cd")
		steps = nil
		ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), key{}, "ada"), time.Second)
		defer cancel()
		_, err := s.Run(ctx, session.Command{Script: "work"})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NotEmpty(t, steps)
		assert.Equal(t, "INT ada", steps[0])
		assert.Equal(t, "done ada", steps[len(steps)-1])
	})
}

func TestTraceDialWithoutAPoolReportsNowhere(t *testing.T) {
	tr := session.TraceDial(t.Context())
	tr.HostKey(session.HostKey{})
	tr.AuthTried(session.AuthTry{})
	assert.Empty(t, session.ExecOf(t.Context()))
}

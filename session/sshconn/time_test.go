package sshconn_test

import (
	"context"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

func TestOneDeadlineEndsEveryWayToGoSilent(t *testing.T) {
	for name, c := range map[string]struct {
		faults sshserver.Faults
		says   string
	}{
		"before a word":          {sshserver.Faults{Silent: true}, "takes connections there but does not speak"},
		"as another service":     {sshserver.Faults{Prelude: "220 ready\r\n", Silent: true}, `does not greet as an SSH server, but says "220 ready"`},
		"in the key exchange":    {sshserver.Faults{StallKex: true}, "during the key exchange"},
		"while it decides on us": {sshserver.Faults{StallAuth: true}, "while logging in"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server, d := piped(t, c.faults, sshconn.Network{})
				began := time.Now()
				_, err := d.Dial(t.Context(), sessiontest.Host(t, "web1", server.Addr()))
				require.ErrorIs(t, err, context.DeadlineExceeded)
				assert.ErrorContains(t, err, c.says)
				assert.ErrorContains(t, err, "web1 (127.0.0.1:22)")
				assert.NotErrorIs(t, err, session.ErrAuth)
				assert.Equal(t, sshconn.DefaultConnectTimeout, time.Since(began), "by default")

				h := sessiontest.Host(t, "web1", server.Addr())
				h.ConnectTimeout = 2 * time.Second
				began = time.Now()
				_, err = d.Dial(t.Context(), h)
				require.ErrorIs(t, err, context.DeadlineExceeded)
				assert.Equal(t, 2*time.Second, time.Since(began), "as the host says")
			})
		})
	}
}

func TestTheCallersContextEndsADial(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, d := piped(t, sshserver.Faults{StallKex: true}, sshconn.Network{ConnectTimeout: -1})
		ctx, cancel := context.WithCancelCause(t.Context())
		reason := assert.AnError
		time.AfterFunc(time.Hour, func() { cancel(reason) })
		_, err := d.Dial(ctx, sessiontest.Host(t, "web1", server.Addr()))
		assert.ErrorIs(t, err, reason)
		assert.ErrorIs(t, err, context.Canceled)

		ctx, stop := context.WithTimeoutCause(t.Context(), time.Hour, reason)
		defer stop()
		_, err = d.Dial(ctx, sessiontest.Host(t, "web1", server.Addr()))
		assert.ErrorIs(t, err, reason)
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		assert.NotErrorIs(t, err, context.Canceled)
	})
}

func TestADeadConnectionIsGivenUpAfterSomeMissedProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, d := piped(t, sshserver.Faults{}, sshconn.Network{})
		c, err := d.Dial(t.Context(), sessiontest.Host(t, "web1", server.Addr()))
		require.NoError(t, err)
		defer c.Close()
		s, err := c.Open(t.Context(), session.Program{Line: "echo"})
		require.NoError(t, err)
		time.Sleep(time.Hour) // probes are answered with "no", and that is alive
		synctest.Wait()

		server.Stall()
		began := time.Now()
		_, err = s.Read(make([]byte, 1))
		assert.Equal(t, io.EOF, err)
		assert.ErrorIs(t, c.Wait(), session.ErrClosed)
		assert.ErrorContains(t, c.Wait(), "no answer to probes for 1m30s")
		// A probe may have been on its way when the network went.
		assert.InDelta(t, (2 * time.Minute).Seconds(), time.Since(began).Seconds(), 31)
		_, err = s.Wait()
		assert.ErrorContains(t, err, "did not say how the program ended")
		server.Resume()
	})
}

// What a program prints may hold the answers back for as long as it prints.
func TestABusyConnectionIsNotGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener, connect := sessiontest.Pipe(t)
		server := sessiontest.Server(t, sshserver.Config{Listener: listener, Faults: sshserver.Faults{Unanswered: true}, Program: func(ctx context.Context, s *sshserver.Session) sshserver.Exit {
			for range 60 { // an hour
				time.Sleep(time.Minute)
				_, _ = s.Write([]byte("."))
			}
			<-ctx.Done()
			return sshserver.Exit{}
		}})
		c, err := trusting(t, sshconn.Network{DialContext: connect, KeepAlive: 40 * time.Second}, server).Dial(t.Context(), sessiontest.Host(t, "web1", server.Addr()))
		require.NoError(t, err)
		defer c.Close()
		s, err := c.Open(t.Context(), session.Program{Line: "print"})
		require.NoError(t, err)
		began := time.Now()
		said, err := io.ReadAll(s)
		require.NoError(t, err)
		assert.Len(t, string(said), 60)
		assert.ErrorContains(t, c.Wait(), "no answer to probes", "once nothing comes any more")
		assert.InDelta(t, (62*time.Minute + 20*time.Second).Minutes(), time.Since(began).Minutes(), 1)
	})
}

func TestAPingOfABusyConnectionFindsItAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		listener, connect := sessiontest.Pipe(t)
		server := sessiontest.Server(t, sshserver.Config{Listener: listener, Faults: sshserver.Faults{Unanswered: true}, Program: echo})
		c, err := trusting(t, sshconn.Network{DialContext: connect, KeepAlive: -1}, server).Dial(t.Context(), sessiontest.Host(t, "web1", server.Addr()))
		require.NoError(t, err)
		defer c.Close()
		s, err := c.Open(t.Context(), session.Program{Line: "echo"})
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		time.AfterFunc(time.Second, func() { _, _ = s.Write([]byte("x")) })
		assert.NoError(t, c.(session.Pinger).Ping(ctx))
		ctx, cancel = context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		assert.ErrorIs(t, c.(session.Pinger).Ping(ctx), context.DeadlineExceeded)
	})
}

func TestProbesCanBeSwitchedOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, d := piped(t, sshserver.Faults{}, sshconn.Network{KeepAlive: -1})
		c, err := d.Dial(t.Context(), sessiontest.Host(t, "web1", server.Addr()))
		require.NoError(t, err)
		server.Stall()
		time.Sleep(24 * time.Hour)
		server.Resume()
		require.NoError(t, c.(session.Pinger).Ping(t.Context()))
		require.NoError(t, c.Close())
	})
}

func TestAPingOfAStalledConnectionEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, d := piped(t, sshserver.Faults{}, sshconn.Network{KeepAlive: -1})
		c, err := d.Dial(t.Context(), sessiontest.Host(t, "web1", server.Addr()))
		require.NoError(t, err)
		server.Stall()
		for range 3 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			assert.ErrorIs(t, c.(session.Pinger).Ping(ctx), context.DeadlineExceeded)
			cancel()
		}
		require.NoError(t, c.Close(), "closing does not wait for the answer")
		server.Resume()
	})
}

func TestClosingAStreamOfAStalledConnectionGivesItUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, d := piped(t, sshserver.Faults{}, sshconn.Network{KeepAlive: -1})
		c, err := d.Dial(t.Context(), sessiontest.Host(t, "web1", server.Addr()))
		require.NoError(t, err)
		s, err := c.Open(t.Context(), session.Program{Line: "echo"})
		require.NoError(t, err)
		server.Stall()
		require.NoError(t, s.Close())
		assert.ErrorContains(t, c.Wait(), "did not confirm")
		require.NoError(t, c.Close())
		server.Resume()
	})
}

func TestOpeningEndsWithItsContextAndLeavesTheConnectionUsable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, d := piped(t, sshserver.Faults{}, sshconn.Network{KeepAlive: -1})
		c, err := d.Dial(t.Context(), sessiontest.Host(t, "web1", server.Addr()))
		require.NoError(t, err)
		defer c.Close()
		server.Stall()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = c.Open(ctx, session.Program{Line: "echo"})
		assert.ErrorIs(t, err, context.DeadlineExceeded)
		server.Resume()
		synctest.Wait() // until the one that was given up has been opened late and closed
		for range sshserver.DefaultMaxSessions {
			_, err := c.Open(t.Context(), session.Program{Line: "echo"})
			require.NoError(t, err, "the one that was given up takes no room")
		}
		_, err = c.Open(t.Context(), session.Program{Line: "echo"})
		assert.ErrorIs(t, err, session.ErrFull)
	})
}

func TestADeadlineHoldsBehindAJumpHostToo(t *testing.T) {
	target := sessiontest.Server(t, sshserver.Config{Faults: sshserver.Faults{Silent: true}})
	jump := sessiontest.Server(t, sshserver.Config{})
	d := trusting(t, sshconn.Network{Lookup: lookup(sessiontest.Host(t, "bastion", jump.Addr()))}, jump, target)
	h := sessiontest.Host(t, "web1", target.Addr())
	h.Via, h.ConnectTimeout = []string{"bastion"}, 2*time.Second
	_, err := d.Dial(t.Context(), h)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.ErrorContains(t, err, "web1 ("+target.Addr()+")")
}

// Wherever a hop, or the host behind it, falls silent, the dial ends in time and says at which of them and in which step.
func TestAHopThatHangsInAnyPhaseIsNamed(t *testing.T) {
	for phase, c := range map[string]struct {
		faults sshserver.Faults
		step   sshconn.Step
		says   string
	}{
		"after it was connected to": {sshserver.Faults{Silent: true}, sshconn.StepGreet, "does not speak"},
		"in the key exchange":       {sshserver.Faults{StallKex: true}, sshconn.StepExchange, "went silent during the key exchange"},
		"while logging in":          {sshserver.Faults{StallAuth: true}, sshconn.StepLogin, "went silent while logging in"},
		"at the tunnel":             {sshserver.Faults{StallOpen: true}, sshconn.StepReach, ""},
	} {
		t.Run(phase, func(t *testing.T) {
			target := sessiontest.Server(t, sshserver.Config{})
			jump := sessiontest.Server(t, sshserver.Config{Faults: c.faults})
			d := trusting(t, sshconn.Network{Lookup: lookup(sessiontest.Host(t, "bastion", jump.Addr()))}, jump, target)
			h := sessiontest.Host(t, "web1", target.Addr())
			h.Via, h.ConnectTimeout = []string{"bastion"}, 2*time.Second
			_, err := d.Dial(t.Context(), h)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			var e *sshconn.Error
			require.ErrorAs(t, err, &e)
			assert.Equal(t, "web1", e.Host)
			assert.Equal(t, c.step, e.Step)
			if c.faults.StallOpen { // the bastion is fine, and says nothing of the host behind it
				assert.Equal(t, target.Addr(), e.Addr)
				assert.ErrorContains(t, err, "bastion")
			} else {
				assert.Equal(t, "bastion", e.Hop)
				assert.ErrorContains(t, err, "web1: through bastion ("+jump.Addr()+")")
				assert.ErrorContains(t, err, c.says)
			}

			jump.SetFaults(sshserver.Faults{})
			target.SetFaults(c.faults)
			h.Name = "web2"
			if c.faults.StallOpen {
				return // that is the host's own, once it is logged in to
			}
			_, err = d.Dial(t.Context(), h)
			require.ErrorIs(t, err, context.DeadlineExceeded)
			require.ErrorAs(t, err, &e)
			assert.Equal(t, c.step, e.Step)
			assert.ErrorContains(t, err, "web2 ("+target.Addr()+")")
		})
	}
}

func lookup(known ...hosts.Host) func(string) (hosts.Host, bool) {
	return func(name string) (hosts.Host, bool) {
		for _, h := range known {
			if h.Name == name {
				return h, true
			}
		}
		return hosts.Host{}, false
	}
}

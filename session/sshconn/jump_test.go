package sshconn_test

import (
	"context"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// farm is some servers that let in one key.
func farm(t *testing.T, n int) []*sshserver.Server {
	t.Helper()
	servers := []*sshserver.Server{sessiontest.Server(t, sshserver.Config{})}
	for len(servers) < n {
		servers = append(servers, sessiontest.Server(t, sshserver.Config{ClientKeys: []ssh.PublicKey{servers[0].ClientKey().PublicKey()}}))
	}
	return servers
}

func TestEverythingHoldsThroughTwoJumpHosts(t *testing.T) {
	f := farm(t, 3)
	d := trusting(t, sshconn.Network{Lookup: lookup(
		sessiontest.Host(t, "outer", f[0].Addr()), sessiontest.Host(t, "inner", f[1].Addr()))}, f...)
	h := sessiontest.Host(t, "web1", f[2].Addr())
	h.Via = []string{"outer", "inner"}
	sessiontest.RunTransport(t, func(t *testing.T) session.Transport {
		tr := dial(t, d, h)
		assert.Equal(t, []string{"outer", "inner"}, tr.Peer().Via)
		assert.Equal(t, f[2].Addr(), tr.Peer().Addr)
		return tr
	})
}

func TestAJumpHostIsConnectedToOnceAndLetGoWithTheLast(t *testing.T) {
	f := farm(t, 2)
	bastion := sessiontest.Host(t, "bastion", f[0].Addr())
	d := trusting(t, sshconn.Network{Lookup: lookup(bastion)}, f...)
	h := sessiontest.Host(t, "web1", f[1].Addr())
	h.Via = []string{"bastion"}
	var wg sync.WaitGroup
	conns := make([]session.Transport, 8)
	for i := range conns {
		wg.Go(func() {
			c, err := d.Dial(t.Context(), h)
			assert.NoError(t, err)
			conns[i] = c
		})
	}
	wg.Wait()
	assert.Equal(t, 1, f[0].Accepted())
	assert.Equal(t, len(conns), f[1].Accepted())
	for _, c := range conns[1:] {
		require.NoError(t, c.Close())
	}
	require.NoError(t, conns[0].(session.Pinger).Ping(t.Context()), "the jump host is still needed")
	require.NoError(t, conns[0].Close())
	gone(t, f...)
	dial(t, d, h)
	assert.Equal(t, 2, f[0].Accepted(), "and connected to anew")
}

func TestAJumpHostThatGoesAwayTakesItsConnectionsAlong(t *testing.T) {
	f := farm(t, 2)
	d := trusting(t, sshconn.Network{Lookup: lookup(sessiontest.Host(t, "bastion", f[0].Addr()))}, f...)
	h := sessiontest.Host(t, "web1", f[1].Addr())
	h.Via = []string{"bastion"}
	var conns []session.Transport
	var streams []session.Stream
	for range 5 {
		c := dial(t, d, h)
		s, err := c.Open(t.Context(), session.Program{Line: "sleep 60"})
		require.NoError(t, err)
		conns, streams = append(conns, c), append(streams, s)
	}
	f[0].Cut()
	for i := range conns {
		_, err := io.ReadAll(streams[i])
		assert.NoError(t, err)
		assert.ErrorIs(t, conns[i].Wait(), session.ErrClosed)
	}
	require.NoError(t, dial(t, d, h).(session.Pinger).Ping(t.Context()), "a new dial finds its way")
}

func TestATunnelThatIsStuckEndsWithoutItsJumpHost(t *testing.T) {
	f := farm(t, 3)
	d := trusting(t, sshconn.Network{KeepAlive: -1, Lookup: lookup(sessiontest.Host(t, "bastion", f[0].Addr()))}, f...)
	stuck, fine := sessiontest.Host(t, "stuck", f[1].Addr()), sessiontest.Host(t, "fine", f[2].Addr())
	stuck.Via, fine.Via = []string{"bastion"}, []string{"bastion"}
	one, two := dial(t, d, stuck), dial(t, d, fine)
	s, err := one.Open(t.Context(), session.Program{Line: "sleep 60"})
	require.NoError(t, err)
	f[1].Stall()
	written := make(chan error, 1)
	go func() {
		_, err := s.Write(make([]byte, 64<<20)) // more than all buffers on the way hold
		written <- err
	}()
	require.NoError(t, one.Close())
	assert.ErrorIs(t, <-written, session.ErrClosed)
	require.NoError(t, two.(session.Pinger).Ping(t.Context()))
	f[1].Resume()
}

func TestAFailureAtAJumpHostSaysWhere(t *testing.T) {
	t.Run("refused", func(t *testing.T) {
		f := farm(t, 1)
		f[0].SetFaults(sshserver.Faults{RefuseAuth: true})
		d := trusting(t, sshconn.Network{Lookup: lookup(sessiontest.Host(t, "bastion", f[0].Addr()))}, f...)
		_, err := d.Dial(t.Context(), hosts.Host{Name: "web1", User: "u", Via: []string{"bastion"}})
		var e *sshconn.Error
		require.ErrorAs(t, err, &e)
		assert.Equal(t, "web1", e.Host)
		assert.Equal(t, "bastion", e.Hop)
		assert.ErrorIs(t, err, session.ErrAuth)
		assert.ErrorContains(t, err, "sshconn: web1: through bastion ("+f[0].Addr()+"): tester may not log in")
	})
	t.Run("the way on", func(t *testing.T) {
		f := farm(t, 1)
		d := trusting(t, sshconn.Network{Lookup: lookup(sessiontest.Host(t, "bastion", f[0].Addr()))}, f...)
		h := sessiontest.Host(t, "web1", closedPort(t))
		h.Via = []string{"bastion"}
		_, err := d.Dial(t.Context(), h)
		assert.ErrorContains(t, err, `bastion cannot connect to it: it says "Connection refused"`)
		gone(t, f...)
	})
	t.Run("a circle", func(t *testing.T) {
		f := farm(t, 1)
		h := sessiontest.Host(t, "a", f[0].Addr())
		h.Via = []string{"a"}
		_, err := trusting(t, sshconn.Network{Lookup: lookup(h)}, f...).Dial(t.Context(), h)
		assert.ErrorContains(t, err, "may lead through itself")
	})
}

func TestWhoGivesUpWaitingForAJumpHostDoesNotTakeItFromTheOthers(t *testing.T) {
	f := farm(t, 2)
	f[0].SetFaults(sshserver.Faults{})
	f[0].Stall()
	d := trusting(t, sshconn.Network{Lookup: lookup(sessiontest.Host(t, "bastion", f[0].Addr()))}, f...)
	h := sessiontest.Host(t, "web1", f[1].Addr())
	h.Via = []string{"bastion"}
	ctx, cancel := context.WithCancel(t.Context())
	first, second := make(chan error, 1), make(chan error, 1)
	go func() {
		_, err := d.Dial(ctx, h)
		first <- err
	}()
	require.Eventually(t, func() bool { return f[0].Accepted() == 1 }, 10*time.Second, time.Millisecond)
	go func() {
		c, err := d.Dial(t.Context(), h)
		if err == nil {
			err = c.Close()
		}
		second <- err
	}()
	require.Eventually(t, func() bool { return sshconn.Waiting(d) == 2 }, 10*time.Second, time.Millisecond)
	cancel()
	assert.ErrorIs(t, <-first, context.Canceled)
	f[0].Resume()
	assert.NoError(t, <-second)
	assert.Equal(t, 1, f[0].Accepted())
}

func TestAJumpHostNobodyWaitsForIsNotDialedOn(t *testing.T) {
	f := farm(t, 1)
	f[0].SetFaults(sshserver.Faults{StallKex: true})
	d := trusting(t, sshconn.Network{ConnectTimeout: -1, Lookup: lookup(sessiontest.Host(t, "bastion", f[0].Addr()))}, f...)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := d.Dial(ctx, hosts.Host{Name: "web1", User: "u", Via: []string{"bastion"}})
		ended <- err
	}()
	require.Eventually(t, func() bool { return f[0].Connections() == 1 }, 10*time.Second, time.Millisecond)
	cancel()
	assert.ErrorIs(t, <-ended, context.Canceled)
	gone(t, f...)
}

// gone waits until servers have noticed that nobody is connected.
func gone(t *testing.T, servers ...*sshserver.Server) {
	t.Helper()
	for _, s := range servers {
		require.Eventually(t, func() bool { return s.Connections() == 0 }, 10*time.Second, time.Millisecond)
	}
}

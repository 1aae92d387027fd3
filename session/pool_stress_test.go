package session_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest"
)

// steady checks what must be true of a pool at every moment.
func steady(t *testing.T, now, before session.Stats, keys, conns, places int) {
	t.Helper()
	for _, n := range []int{now.Dialing, now.Idle, now.Used, now.Sessions, now.Waiting} {
		require.GreaterOrEqual(t, n, 0, "%+v", now)
	}
	require.LessOrEqual(t, now.Sessions, keys*conns*places+places, "%+v", now)
	require.GreaterOrEqual(t, now.Sessions, now.Used, "%+v", now)
	require.LessOrEqual(t, now.Waited, now.Acquired, "%+v", now)
	require.LessOrEqual(t, now.ClosedIdle+now.ClosedOld+now.ClosedDead, now.Dialed, "%+v", now)
	for _, c := range [][2]int64{
		{before.Acquired, now.Acquired}, {before.Waited, now.Waited}, {before.Canceled, now.Canceled}, {before.Dialed, now.Dialed},
		{before.ClosedIdle, now.ClosedIdle}, {before.ClosedOld, now.ClosedOld}, {before.ClosedDead, now.ClosedDead},
		{int64(before.WaitTime), int64(now.WaitTime)},
	} {
		require.GreaterOrEqual(t, c[1], c[0], "a counter shrank: %+v, then %+v", before, now)
	}
}

// abuse uses p in every way at once until ctx ends.
func abuse(ctx context.Context, t *testing.T, d *sessiontest.Dialer, p *session.Pool, workers int) {
	hs := fleet(3)
	var wg sync.WaitGroup
	for i := range workers {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(uint64(i), 7))
			for ctx.Err() == nil {
				h := hs[r.IntN(len(hs))]
				own, cancel := context.WithTimeout(ctx, time.Duration(r.IntN(20))*time.Millisecond)
				switch r.IntN(12) {
				case 0:
					d.Break(h.Name)
				case 1:
					p.CloseIdle()
				case 2:
					d.Fault(h.Name, sessiontest.Faults{MaxSessions: r.IntN(4)})
				case 3:
					d.Fault(h.Name, sessiontest.Faults{Dial: []error{nil, errors.New("refused"), session.ErrAuth}[r.IntN(3)]})
				case 4:
					if l, err := p.Acquire(h); err == nil {
						_, _ = l.Session().Run(own, session.Command{Script: "quick"})
						_ = l.Extend()
						l.Release()
					}
				case 5:
					if s, err := p.Open(h); err == nil {
						go s.Close()
						_, _ = s.Run(own, session.Command{Script: "hang"})
						s.Close()
					}
				case 6:
					for range p.Each(own, hs, session.Command{Script: "quick"}) {
						if r.IntN(3) == 0 {
							break
						}
					}
				default:
					res, err := p.Run(own, h, session.Command{Script: []string{"quick", "hang"}[r.IntN(2)], Timeout: time.Millisecond})
					assert.Equal(t, session.Done, res.State)
					assert.Equal(t, err == nil, res.Status == session.StatusOK, "%s: %v", res.Status, err)
				}
				cancel()
			}
		})
	}
	wg.Wait()
}

func TestPoolStandsManyHandsAtOnce(t *testing.T) {
	long := 1500 * time.Millisecond
	if testing.Short() {
		long = 200 * time.Millisecond
	}
	d := sessiontest.NewDialer(t)
	d.On("quick", reply{Stdout: "x"})
	d.On("hang", reply{Hang: true})
	const conns, places = 2, 3
	var dialing, most atomic.Int64
	cfg := session.PoolConfig{
		MaxConnsPerHost: conns, MaxSessionsPerConn: places, MaxDials: 2, LeaseTTL: 10 * time.Millisecond,
		IdleTimeout: 3 * time.Millisecond, MaxLifetime: 50 * time.Millisecond,
	}
	cfg.Session.Grace = time.Millisecond
	cfg.Session.Trace = &session.Trace{
		DialStart: func(context.Context, hosts.Host) { most.Store(max(most.Load(), dialing.Add(1))) },
		DialDone:  func(context.Context, hosts.Host, session.Peer, time.Duration, error) { dialing.Add(-1) },
	}
	p := poolOn(t, d, cfg)
	ctx, cancel := context.WithTimeout(t.Context(), long)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		abuse(ctx, t, d, p, 12)
	}()
	var before session.Stats
	for ctx.Err() == nil {
		now := p.Stats()
		steady(t, now, before, 3, conns, 2*places) // those of a connection that is on its way out count, too
		before = now
	}
	<-done
	assert.LessOrEqual(t, most.Load(), int64(2))
	assert.Positive(t, before.Acquired)
	s := p.Stats()
	assert.Zero(t, s.Sessions+s.Waiting, "%+v", s)
}

// The same with nothing left to chance but the order: time is fake, so idle times, lifetimes and pings all happen.
func TestPoolIsEmptyAfterEverythingHappenedToIt(t *testing.T) {
	inBubble(t, func(t *testing.T, d *sessiontest.Dialer) {
		d.On("quick", reply{Stdout: "x"})
		d.On("hang", reply{Hang: true})
		p := poolOn(t, d, session.PoolConfig{MaxConnsPerHost: 2, MaxSessionsPerConn: 2, MaxDials: 2, IdleTimeout: time.Minute, MaxLifetime: time.Hour})
		hs := fleet(3)
		var wg sync.WaitGroup
		for i := range 10 {
			wg.Go(func() {
				r := rand.New(rand.NewPCG(uint64(i), 9))
				for range 60 {
					h := hs[r.IntN(len(hs))]
					switch r.IntN(8) {
					case 0:
						d.Break(h.Name)
					case 1:
						d.Fault(h.Name, faults{Ping: []error{nil, errors.New("no")}[r.IntN(2)]})
					default:
						_, _ = p.Run(t.Context(), h, session.Command{Script: []string{"quick", "hang"}[r.IntN(2)], Timeout: time.Second})
					}
					time.Sleep(time.Duration(r.IntN(90)) * time.Second)
				}
			})
		}
		wg.Wait()
		s := p.Stats()
		assert.Zero(t, s.Sessions+s.Waiting+s.Dialing, "%+v", s)
		assert.Positive(t, s.ClosedIdle, "%+v", s)
		assert.Positive(t, s.ClosedDead, "%+v", s)
		time.Sleep(time.Minute)
		synctest.Wait()
		for _, h := range hs {
			assert.Zero(t, d.Open(h.Name))
		}
		assert.Zero(t, session.Keys(p))
		s = p.Stats()
		assert.Equal(t, s.Dialed, s.ClosedIdle+s.ClosedOld+s.ClosedDead, "every end has its reason: %+v", s)
	})
}

// A place that is handed over at the moment its waiter gives up must not be lost.
func TestNoPlaceIsLostBetweenAGrantAndAWaiterWhoGoes(t *testing.T) {
	d := sessiontest.NewDialer(t)
	d.On("quick")
	p := poolOn(t, d, session.PoolConfig{MaxConnsPerHost: 1, MaxSessionsPerConn: 1})
	for i := range 500 {
		holder := mustOpen(t, p, web1)
		runOK(t, holder, "quick")
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() { _, _ = sessionOn(p)(ctx, session.Command{Script: "quick"}) })
		}
		wg.Go(cancel)
		wg.Go(func() { holder.Close() })
		wg.Wait()
		require.Zero(t, p.Stats().Sessions, fmt.Sprint("round ", i))
	}
	assert.Equal(t, 1, d.Dialed("web1"))
}

package session

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
)

// connPool is the pool's core: connections by key, each with room for a number of borrowers. It knows nothing of shells
// and commands.
type connPool struct {
	cfg   PoolConfig
	trace *Trace
	users func(key connKey) users           // says who has places; never called with mu held
	evict func(key connKey, once bool) bool // has a warm shell make room, and reports whether there was one; never called with mu held
	base  context.Context                   // ends with shut; dials and pings live under it
	end   context.CancelFunc
	dials chan struct{} // one token per dial in progress
	wg    sync.WaitGroup

	mu     sync.Mutex // guards what follows; never held while dialing, pinging, closing or calling out
	keys   map[connKey]*bucket
	last   map[string]string // login that was last asked for, by hostKey; of those that have a bucket
	lent   map[string]int    // places that are lent for something else than sessions, by hostKey; none is 0
	closed bool
	stats  Stats
}

// bucket is what there is for one key.
type bucket struct {
	conns   []*conn // in the order of last use
	dialing dialing
	learned room      // what the server has shown
	waiting []*waiter // first come, first served, of those that can be
}

// dialing counts the connections that are being made.
type dialing struct{ plain, spare int }

// waiter is a caller who waits for a place.
type waiter struct {
	want want
	ch   chan grant      // buffered for one
	ctx  context.Context // of its caller: a dial that serves it logs in as that caller would
}

// room is how many places a connection of a server has had when it refused one more. It is believed for a while only: what
// has just ended may still take its place.
type room struct {
	places int
	seen   time.Time
}

// believed is for how long.
const believed = time.Minute

// placesOf is how many places a new connection is thought to have; 0 means no limit. p.mu is held.
func (p *connPool) placesOf(b *bucket) int {
	places := p.cfg.MaxSessionsPerConn
	if l := b.learned; l.places > 0 && time.Since(l.seen) < believed && (places == 0 || l.places < places) {
		return l.places
	}
	return places
}

// grant is what a waiter gets: a place on a connection, or why there is none.
type grant struct {
	c   *conn
	err error
}

// conn is one connection and its borrowers.
type conn struct {
	key   connKey
	b     *bucket
	host  hosts.Host
	t     Transport
	max   int // places; 0 means no limit
	used  int
	once  int       // of them, those of one-off commands
	warm  int       // of those, shells that wait for a command
	going int       // of those, what has ended and gives its place back soon
	asked time.Time // when its dial began
	made  time.Time
	since time.Time   // of the last give-back by a session
	timer *time.Timer // closes it when idle for too long; nil while borrowed
	spare bool        // for one-off commands alone: sessions hold all places of the others
	gone  bool        // takes no more borrowers, closes with the last one
	doubt bool        // a ping of it was broken off
}

// Stats is a snapshot. Counters only grow.
type Stats struct {
	Dialing  int // connections being made
	Idle     int // connections that nobody uses
	Used     int // connections in use
	Sessions int // borrowers of them
	Warm     int // shells on them that wait for one-off commands
	Closing  int // shells on them whose one-off command has ended
	Waiting  int // callers waiting for a place now

	Acquired   int64         // places given out
	Waited     int64         // of them, those that could not be given at once
	WaitTime   time.Duration // their total
	Canceled   int64         // callers who gave up waiting
	Dialed     int64
	ClosedIdle int64
	ClosedOld  int64
	ClosedDead int64
}

func newConnPool(cfg PoolConfig) *connPool {
	p := &connPool{cfg: cfg, trace: cfg.Session.Trace, keys: map[connKey]*bucket{}, last: map[string]string{}, lent: map[string]int{}}
	p.base, p.end = context.WithCancel(context.Background())
	if cfg.MaxDials > 0 {
		p.dials = make(chan struct{}, cfg.MaxDials)
	}
	return p
}

// acquire gives a place on a connection to h: on the one used last, else on a new one if the limits allow it, else when
// one comes free. ctx and w bound the wait only. queued is the wait without the dial that it was for.
func (p *connPool) acquire(ctx context.Context, h hosts.Host, w want) (c *conn, queued time.Duration, err error) {
	began := time.Now()
	host := hostKey(h)
	for evicted := p.evict == nil; ; {
		p.mu.Lock()
		key := p.keyOf(ctx, host)
		if p.closed {
			p.mu.Unlock()
			return nil, 0, errPoolClosed
		}
		b := p.keys[key]
		if b == nil {
			b = &bucket{}
			p.keys[key] = b
		}
		p.last[host] = key.login
		expired := p.expire(b)
		if c := b.free(w.once); c != nil {
			c.take(w)
			stale := c.doubt || time.Since(c.since) > pingAfter
			p.mu.Unlock()
			closeAll(expired)
			if !p.valid(c) {
				p.giveBack(c, w, nil)
				continue
			}
			if !stale {
				p.acquired()
				return c, 0, nil
			}
			if ok, err := p.healthy(ctx, c, w); ok || err != nil {
				return c, 0, err
			}
			continue
		}
		if !evicted && b.warm() {
			p.mu.Unlock()
			closeAll(expired)
			evicted = true
			p.evict(key, w.once)
			continue
		}
		me := &waiter{w, make(chan grant, 1), ctx}
		b.waiting = append(b.waiting, me)
		p.dialMore(key, h, b)
		p.mu.Unlock()
		closeAll(expired)
		g, full, err := p.await(ctx, b, me)
		switch {
		case g.err != nil:
			return nil, 0, g.err
		case g.c != nil && g.c.made.Before(began) && !p.valid(g.c):
			p.giveBack(g.c, w, nil)
			continue
		case g.c != nil:
			return g.c, p.waited(g.c, began), nil
		case full:
			err = p.fullError(key, time.Since(began), err)
		}
		return nil, time.Since(began), err
	}
}

// valid reports whether new work may begin on c, and takes it out of use where it may not: a new connection tells why. p.mu is not
// held.
func (p *connPool) valid(c *conn) bool {
	if validate(c.t) == nil && !moved(c.t) {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if !c.gone {
		c.gone = true
		p.stats.ClosedOld++
	}
	return false
}

func validate(t Transport) error {
	if v, ok := t.(validator); ok {
		return v.Validate()
	}
	return nil
}

// moved reports whether t's host is reached in another way by now.
func moved(t Transport) bool {
	m, ok := t.(mover)
	return ok && m.Moved()
}

// acquired counts a place that was given at once.
func (p *connPool) acquired() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stats.Acquired++
}

// waited counts a wait that began then and was for c.
func (p *connPool) waited(c *conn, began time.Time) (queued time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	wait := time.Since(began)
	p.stats.WaitTime += wait
	if c.made.After(began) {
		return max(0, c.asked.Sub(began))
	}
	return wait
}

// pingAfter is how long a connection may have been idle to be lent without a look at it.
const pingAfter = 5 * time.Second

// pingTimeout bounds that look.
const pingTimeout = 5 * time.Second

// healthy looks at a connection that has been taken. If it is dead, or ctx ends first, it gives it back; the error is that
// of ctx, or that the pool is closed.
func (p *connPool) healthy(ctx context.Context, c *conn, w want) (bool, error) {
	var err error
	if pinger, ok := c.t.(Pinger); ok {
		pctx, cancel := context.WithTimeout(ctx, pingTimeout)
		defer cancel()
		defer context.AfterFunc(p.base, cancel)()
		err = pinger.Ping(pctx)
	}
	p.mu.Lock()
	c.doubt = err != nil
	if err == nil {
		p.stats.Acquired++
	}
	p.mu.Unlock()
	switch {
	case err == nil:
		return true, nil
	case p.base.Err() != nil:
		p.giveBack(c, w, nil)
		return false, errPoolClosed
	case ctx.Err() != nil:
		p.giveBack(c, w, nil)
		return false, ctxerr.Of(ctx)
	}
	p.giveBack(c, w, ErrClosed)
	return false, nil
}

// expire takes connections out of use that are too old, and returns those to close. p.mu is held.
func (p *connPool) expire(b *bucket) (unused []*conn) {
	if p.cfg.MaxLifetime <= 0 {
		return nil
	}
	for _, c := range b.conns {
		if !c.gone && time.Since(c.made) >= p.cfg.MaxLifetime {
			c.gone = true
			p.stats.ClosedOld++
			if c.used == 0 {
				unused = append(unused, c)
			}
		}
	}
	return unused
}

func closeAll(conns []*conn) {
	for _, c := range conns {
		c.t.Close()
	}
}

// free returns the connection used last that has a place: a spare one only where that is for a one-off command, and no
// other has one.
func (b *bucket) free(once bool) (spare *conn) {
	for _, c := range slices.Backward(b.conns) {
		switch {
		case c.gone || c.max > 0 && c.used >= c.max:
		case !c.spare:
			return c
		case once && spare == nil:
			spare = c
		}
	}
	return spare
}

// take is a borrower more.
func (c *conn) take(w want) {
	c.used++
	if w.once {
		c.once++
	}
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
}

// giveBack returns a place. why tells what was wrong with the connection: ErrClosed that it is of no use, ErrFull that it
// has fewer places than was thought, nil nothing. shared tells that others have places on it.
func (p *connPool) giveBack(c *conn, w want, why error) (shared bool) {
	p.mu.Lock()
	c.used--
	if w.once {
		c.once--
	}
	if w.leaving {
		c.going--
	}
	if !w.ahead {
		c.since = time.Now()
	}
	b := c.b
	switch {
	case errors.Is(why, ErrFull) && c.used > 0:
		c.max = c.used
		b.learned = room{c.used, time.Now()}
	case why != nil && !c.gone: // or it is full with nobody on it: what has just ended there still takes its place
		c.gone = true
		p.stats.ClosedDead++
	}
	expired := p.expire(b)
	if i := slices.Index(b.conns, c); i >= 0 && !c.gone {
		b.conns = append(slices.Delete(b.conns, i, i+1), c) // used last
	}
	p.serve(b)
	p.dialMore(c.key, c.host, b)
	unused := c.used == 0
	if unused && !c.gone {
		p.rest(c)
	}
	shut := unused && (c.gone || p.closed)
	shared = c.used > 0
	p.mu.Unlock()
	closeAll(expired)
	if shut {
		c.t.Close()
	}
	return shared
}

// rest starts the time after which an unused connection is closed. p.mu is held.
func (p *connPool) rest(c *conn) {
	if p.cfg.IdleTimeout > 0 && c.timer == nil {
		c.timer = time.AfterFunc(p.cfg.IdleTimeout-time.Since(c.since), func() { p.retire(c) })
	}
}

// retire closes a connection that is still unused.
func (p *connPool) retire(c *conn) {
	p.mu.Lock()
	if c.used > 0 || c.gone || p.closed {
		p.mu.Unlock()
		return
	}
	c.gone = true
	p.stats.ClosedIdle++
	p.wg.Add(1)
	p.mu.Unlock()
	defer p.wg.Done()
	c.t.Close()
}

// watch waits for the end of a connection and forgets it.
func (p *connPool) watch(c *conn) {
	err := c.t.Wait()
	p.mu.Lock()
	if !c.gone {
		c.gone = true
		if err != nil {
			p.stats.ClosedDead++
		}
	}
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
	b := c.b
	b.conns = slices.DeleteFunc(b.conns, func(o *conn) bool { return o == c })
	p.dialMore(c.key, c.host, b)
	p.forget(c.key, b)
	p.mu.Unlock()
	c.t.Close()
	if f := p.trace.ConnClosed; f != nil {
		f(context.Background(), c.host, err)
	}
}

// forget drops a key that nobody uses. p.mu is held.
func (p *connPool) forget(key connKey, b *bucket) {
	if len(b.conns)+len(b.waiting)+b.dialing.plain+b.dialing.spare == 0 && p.keys[key] == b {
		delete(p.keys, key)
		if p.last[key.host] == key.login {
			delete(p.last, key.host)
		}
	}
}

// The places of spares, and of what is about to end.

// spot gives a place on a connection of a key to a shell that is to wait; nil where none has one that nobody waits for.
func (p *connPool) spot(key connKey) *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.keys[key]
	if b == nil || p.closed || len(b.waiting) > 0 {
		return nil
	}
	c := b.free(true)
	if c != nil {
		c.take(want{once: true})
		c.warm++
	}
	return c
}

// wake makes the place of a shell that has waited one of a command, and reports false when its connection takes no more. It
// counts, unless the connection is looked at first, which does.
func (p *connPool) wake(c *conn, look bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if c.gone || p.closed {
		return false
	}
	c.warm--
	if !look {
		p.stats.Acquired++
	}
	return true
}

// leave notes that a place of c is about to come back; warm says that it is one of a shell that has waited.
func (p *connPool) leave(c *conn, warm bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if warm {
		c.warm--
	}
	c.going++
}

// warm reports whether there are shells that could make room.
func (b *bucket) warm() bool {
	return slices.ContainsFunc(b.conns, func(c *conn) bool { return c.warm > 0 && !c.gone })
}

// comingBack counts the places that are about to come back on plain connections, and on spare ones.
func (b *bucket) comingBack() (plain, spare int) {
	for _, c := range b.conns {
		switch {
		case c.gone:
		case c.spare:
			spare += c.going
		default:
			plain += c.going
		}
	}
	return plain, spare
}

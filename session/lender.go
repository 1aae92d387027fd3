package session

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
)

// errNoConn means that a session of a pool has no connection yet.
var errNoConn = errors.New("session: not connected yet")

// errPoolClosed means that the pool gives nothing out any more.
var errPoolClosed = fmt.Errorf("the pool is closed: %w", ErrClosed)

// dialError marks an error as the dialer's.
type dialError struct{ Err error }

func (e *dialError) Error() string { return e.Err.Error() }
func (e *dialError) Unwrap() error { return e.Err }

// status sorts a dial that failed.
func (e *dialError) status() (Status, string) {
	switch {
	case errors.Is(e.Err, ErrHostKey):
		return StatusHostKey, "hostkey"
	case errors.Is(e.Err, ErrAuth):
		return StatusAuth, "auth"
	default:
		return StatusUnreachable, "unreachable"
	}
}

// lender gives one session its connection.
type lender struct {
	pool   *connPool
	warm   *warmth // nil where no shell is started ahead
	host   hosts.Host
	key    string // hostKey of host
	once   bool   // for one-off commands, which have slots of their own
	onFree func()

	mu   sync.Mutex
	c    *conn
	made bool // c was made for this session: nothing that ended on it can still take its place
	over bool
	left bool // c's place is counted as one that comes back
}

// exchange gives back the connection the session has, if any, and gets another one. why is what was wrong with it. again
// tells that it is about the old one alone: it had no room because of others, or of what has just ended on it.
// queued is how long it waited for its turn, connecting not included.
func (l *lender) exchange(ctx context.Context, why error, until time.Time) (t Transport, queued time.Duration, again bool, err error) {
	shared, made := l.release(why)
	again = (shared || !made) && errors.Is(why, ErrFull)
	began := time.Now()
	c, queued, err := l.pool.acquire(ctx, l.host, want{once: l.once, until: until})
	if err != nil {
		return nil, queued, again, err
	}
	l.mu.Lock()
	if l.over {
		l.mu.Unlock()
		l.pool.giveBack(c, want{once: l.once}, nil)
		return nil, queued, again, ErrClosed
	}
	l.c, l.made = c, c.made.After(began)
	l.mu.Unlock()
	return c.t, queued, again, nil
}

// renew gets another connection in place of one that takes no new work, which it gives back to the caller to be given back once
// nothing runs on it. Without another one the session keeps it.
func (l *lender) renew(ctx context.Context, until time.Time) (t Transport, giveBack func(), queued time.Duration, err error) {
	l.mu.Lock()
	old := l.c
	l.mu.Unlock()
	if old != nil {
		l.pool.valid(old) // so that nobody else gets it
	}
	began := time.Now()
	c, queued, err := l.pool.acquire(ctx, l.host, want{once: l.once, until: until})
	if err != nil {
		return nil, nil, queued, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over || l.c != old {
		l.pool.giveBack(c, want{once: l.once}, nil)
		return nil, nil, queued, ErrClosed
	}
	w := want{once: l.once, leaving: l.left}
	l.c, l.made, l.left = c, c.made.After(began), false
	return c.t, func() {
		if old != nil {
			l.pool.giveBack(old, w, nil)
		}
	}, queued, nil
}

// release gives back the connection, if any, and tells whether others use it, and whether it was made for this session.
func (l *lender) release(why error) (shared, made bool) {
	l.mu.Lock()
	c := l.c
	l.c = nil
	made = c == nil || l.made
	w := want{once: l.once, leaving: l.left}
	l.left = false
	l.mu.Unlock()
	return c != nil && l.pool.giveBack(c, w, why), made
}

// adopt gives the session a place that has been taken for it, and reports false when it needs none any more.
func (l *lender) adopt(c *conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over || l.c != nil {
		return false
	}
	l.c, l.made = c, false
	return true
}

// leave tells that the place is about to come back: nobody needs a new connection for want of it.
func (l *lender) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.c != nil && l.once && !l.left {
		l.left = true
		l.pool.leave(l.c, false)
	}
}

// free ends the loan. It is idempotent.
func (l *lender) free() {
	l.mu.Lock()
	l.over = true
	l.mu.Unlock()
	l.release(nil)
	l.onFree()
}

// errMoved is why a session gets no place beside its connection: what it has begun is on another machine, or under another account.
var errMoved = fmt.Errorf("its connection has no room, and its host is reached in another way by now: open the session again: %w", ErrFull)

// moved reports whether another connection would lead elsewhere than the one that the session has.
func (l *lender) moved() bool {
	l.mu.Lock()
	c := l.c
	l.mu.Unlock()
	return c != nil && moved(c.t)
}

// elsewhere tries use on other connections of the session's pool, where its own has no room. release gives that one back.
func (s *Session) elsewhere(ctx context.Context, w want, use func(Transport) error) (release func(), err error) {
	if s.pool.moved() {
		return nil, errMoved
	}
	return s.pool.pool.lend(ctx, s.host, w, use)
}

// lend tries use on connections to h until one has room: the pool may not know yet which do.
func (p *connPool) lend(ctx context.Context, h hosts.Host, w want, use func(Transport) error) (release func(), err error) {
	for try := 1; ; {
		began := time.Now()
		c, _, err := p.acquire(ctx, h, w)
		if err != nil {
			return nil, err
		}
		if err = use(c.t); err == nil {
			return func() { p.giveBack(c, w, nil) }, nil
		}
		if shared := p.giveBack(c, w, err); !shared && c.made.After(began) {
			try++
		}
		if try > maxConns || !errors.Is(err, ErrFull) || ctx.Err() != nil {
			return nil, err
		}
	}
}

// maxConns is how many new connections are tried. Those that others had filled, or on which something has just ended, do not
// count.
const maxConns = 4

// mayLend counts a place that is to be lent, if there is one to be had at once and sessions keep half of them.
func (p *connPool) mayLend(key connKey) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	b := p.keys[key]
	if b == nil {
		b = &bucket{}
	}
	conns, places := p.cfg.MaxConnsPerHost, p.placesOf(b)
	if conns > 0 && places > 0 && p.lent[key.host] >= max(1, conns*places/2) {
		return false
	}
	if b.free(false) == nil && !b.warm() && conns > 0 && len(b.conns)+b.dialing.plain+b.dialing.spare >= conns {
		return false
	}
	p.lent[key.host]++
	return true
}

// lentBack ends what mayLend has counted.
func (p *connPool) lentBack(host string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lent[host]--; p.lent[host] == 0 {
		delete(p.lent, host)
	}
}

// Lease is a session on loan. Its methods are safe after Release, where they do nothing or report ErrClosed.
type Lease struct {
	s   *Session
	ttl time.Duration

	mu      sync.Mutex // guards what follows
	timer   *time.Timer
	expires time.Time
	over    bool
}

// Acquire lends a session on h. It is taken back, and closed with what runs in it, when it was not extended for LeaseTTL.
func (p *Pool) Acquire(h hosts.Host) (*Lease, error) {
	s, err := p.Open(h)
	if err != nil {
		return nil, err
	}
	l := &Lease{s: s, ttl: p.cfg.LeaseTTL}
	if l.ttl > 0 {
		l.mu.Lock() // Release may come at once
		defer l.mu.Unlock()
		l.expires = time.Now().Add(l.ttl)
		l.timer = time.AfterFunc(l.ttl, l.Release)
	}
	return l, nil
}

// Session is the session on loan.
func (l *Lease) Session() *Session { return l.s }

// Extend starts the time of the lease anew. It reports ErrClosed when the lease is over.
func (l *Lease) Extend() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.over || l.timer != nil && !l.timer.Stop() {
		return ErrClosed
	}
	if l.timer != nil {
		l.expires = time.Now().Add(l.ttl)
		l.timer.Reset(l.ttl)
	}
	return nil
}

// Expires returns when the lease ends; zero if it does not.
func (l *Lease) Expires() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.expires
}

// Release closes the session and gives its connection back. It is idempotent.
func (l *Lease) Release() {
	l.mu.Lock()
	if l.timer != nil {
		l.timer.Stop()
	}
	l.over = true
	l.mu.Unlock()
	l.s.Close()
}

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
	host   hosts.Host
	onFree func()

	mu   sync.Mutex
	c    *conn
	over bool
}

// exchange gives back the connection the session has, if any, and gets another one. why is what was wrong with it.
// queued is how long it waited for its turn, connecting not included.
func (l *lender) exchange(ctx context.Context, why error) (t Transport, queued time.Duration, err error) {
	l.release(why)
	c, queued, err := l.pool.acquire(ctx, l.host)
	if err != nil {
		return nil, queued, err
	}
	l.mu.Lock()
	if l.over {
		l.mu.Unlock()
		l.pool.giveBack(c, nil)
		return nil, queued, ErrClosed
	}
	l.c = c
	l.mu.Unlock()
	return c.t, queued, nil
}

func (l *lender) release(why error) {
	l.mu.Lock()
	c := l.c
	l.c = nil
	l.mu.Unlock()
	if c != nil {
		l.pool.giveBack(c, why)
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

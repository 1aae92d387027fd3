package session

import (
	"context"
	"errors"
	"sync"

	"github.com/fairlead-ssh/fairlead/hosts"
)

// errNoConn means that a session of a pool has no connection yet.
var errNoConn = errors.New("session: not connected yet")

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
func (l *lender) exchange(ctx context.Context, why error) (Transport, error) {
	l.release(why)
	c, err := l.pool.acquire(ctx, l.host)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	if l.over {
		l.mu.Unlock()
		l.pool.giveBack(c, nil)
		return nil, ErrClosed
	}
	l.c = c
	l.mu.Unlock()
	return c.t, nil
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

// free ends the loan.
func (l *lender) free() {
	l.mu.Lock()
	l.over = true
	l.mu.Unlock()
	l.release(nil)
	l.onFree()
}

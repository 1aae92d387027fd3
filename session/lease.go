package session

import (
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
)

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

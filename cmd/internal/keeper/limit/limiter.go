package limit

import (
	"sync"
	"sync/atomic"
	"time"
)

// How often one principal may ask. On the socket it is this account's own machine that asks; a token may be anybody's.
const (
	SocketRate, SocketBurst = 20000, 20000 // a second; requests at once
	TokenRate, TokenBurst   = 50, 200
	maxBuckets              = 4096
)

// Limiter bounds how often principals ask: a bucket for each, which fills with time.
type Limiter struct {
	asked atomic.Uint64 // requests ever

	mu      sync.Mutex // guards buckets
	buckets map[string]*bucket
}

type bucket struct {
	left float64
	at   time.Time
}

func NewLimiter() *Limiter { return &Limiter{buckets: map[string]*bucket{}} }

// Heard counts the requests ever made.
func (l *Limiter) Heard() uint64 { return l.asked.Load() }

// Admit takes one from a bucket, or says how long to wait.
func (l *Limiter) Admit(name string, rate, burst float64, now time.Time) (wait time.Duration) {
	l.asked.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.buckets[name]
	if b == nil {
		if len(l.buckets) >= maxBuckets {
			clear(l.buckets) // full buckets again: a little too kind, and bounded
		}
		b = &bucket{left: burst, at: now}
		l.buckets[name] = b
	}
	b.left = min(burst, b.left+rate*max(0, now.Sub(b.at).Seconds()))
	b.at = now
	if b.left < 1 {
		return time.Duration((1 - b.left) / rate * float64(time.Second))
	}
	b.left--
	return 0
}

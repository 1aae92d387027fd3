package keeper

import (
	"sync"
	"sync/atomic"
	"time"
)

// How often one principal may ask. On the socket it is this account's own machine that asks; a token may be anybody's.
const (
	socketRate, socketBurst = 20000, 20000 // a second; requests at once
	tokenRate, tokenBurst   = 50, 200
	maxBuckets              = 4096
)

// limiter bounds how often principals ask: a bucket for each, which fills with time.
type limiter struct {
	asked atomic.Uint64 // requests ever

	mu      sync.Mutex // guards buckets
	buckets map[string]*bucket
}

type bucket struct {
	left float64
	at   time.Time
}

func newLimiter() *limiter { return &limiter{buckets: map[string]*bucket{}} }

// heard counts the requests ever made.
func (l *limiter) heard() uint64 { return l.asked.Load() }

// admit takes one from a bucket, or says how long to wait.
func (l *limiter) admit(name string, rate, burst float64, now time.Time) (wait time.Duration) {
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

package notify

import (
	"context"
	"time"
)

// Start is New with another pause before the second attempt.
func Start(all []Config, warn func(string), pause time.Duration) (*Notifier, error) {
	return start(all, warn, pause)
}

// Bounds of what is delivered.
const (
	MaxQueue = maxQueue
	Attempts = attempts
	Closing  = closing
)

// Errors of attempts that the end of the program ends.
var (
	ErrEnded   = errEnded
	ErrClosing = errClosing
)

// Deliver delivers an event by attempts, as for a place with a timeout and a first pause.
func Deliver(ctx context.Context, timeout, pause time.Duration, attempt func(context.Context) (again bool, err error)) error {
	p := &place{cfg: Config{Timeout: timeout}, pause: pause, deliver: func(ctx context.Context, _ queued) (bool, error) { return attempt(ctx) }}
	return p.send(ctx, queued{})
}

// Drain gives n events that wait an attempt each, and returns how many were dropped.
func Drain(n int, timeout time.Duration, attempt func(context.Context) error) (dropped uint64) {
	p := &place{cfg: Config{Timeout: timeout}, queue: make(chan queued, n),
		deliver: func(ctx context.Context, _ queued) (bool, error) { return false, attempt(ctx) }}
	for range n {
		p.queue <- queued{}
	}
	p.drain()
	return p.dropped.Load()
}

// Follow delivers n events that waited when the program ended, and returns how many were dropped.
func Follow(n int, attempt func() error) (dropped uint64) {
	p := &place{queue: make(chan queued, n), cfg: Config{Timeout: time.Minute}, close: func() {}, warn: func(string) {},
		deliver: func(context.Context, queued) (bool, error) { return true, attempt() }}
	for range n {
		p.queue <- queued{}
	}
	ended, end := context.WithCancel(context.Background())
	end()
	p.follow(ended)
	return p.dropped.Load()
}

package sshconn

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// timeoutError is why a clock ended its context.
type timeoutError struct{ after time.Duration }

func (e *timeoutError) Error() string        { return fmt.Sprintf("no answer within %v", e.after) }
func (e *timeoutError) Timeout() bool        { return true }
func (e *timeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// clock is a deadline that stands still while a person is asked. Its context ends with its parent, when the time is up,
// or with stop.
type clock struct {
	context.Context
	end   context.CancelCauseFunc
	limit time.Duration // negative means none

	mu        sync.Mutex // guards what follows; a clock locks its followers while it is locked, never the other way
	timer     *time.Timer
	left      time.Duration // when the timer was last started
	since     time.Time
	pauses    int
	followers map[*clock]struct{} // stand still with this one
}

func newClock(parent context.Context, limit time.Duration) *clock {
	c := &clock{limit: limit, left: limit}
	c.Context, c.end = context.WithCancelCause(parent)
	if limit >= 0 {
		c.since = time.Now()
		c.timer = time.AfterFunc(limit, c.ring)
	}
	return c
}

func (c *clock) ring() {
	c.mu.Lock()
	paused := c.pauses > 0 // the timer fired while it was being stopped
	c.mu.Unlock()
	if !paused {
		c.end(&timeoutError{c.limit})
	}
}

// stop ends the context and frees what the clock holds.
func (c *clock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil {
		c.timer.Stop()
	}
	c.end(context.Canceled)
}

// pause stops time until resume is called, which must happen once.
func (c *clock) pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pauses++
	if c.pauses == 1 {
		if c.timer != nil && c.timer.Stop() {
			c.left -= time.Since(c.since)
		}
		for f := range c.followers {
			f.pause()
		}
	}
}

func (c *clock) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pauses--
	if c.pauses == 0 {
		if c.timer != nil {
			c.since = time.Now()
			c.timer.Reset(max(c.left, 0))
		}
		for f := range c.followers {
			f.resume()
		}
	}
}

// follow makes f stand still whenever c does, until unfollow is called.
func (c *clock) follow(f *clock) (unfollow func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.followers == nil {
		c.followers = map[*clock]struct{}{}
	}
	c.followers[f] = struct{}{}
	if c.pauses > 0 {
		f.pause()
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.followers, f)
		if c.pauses > 0 {
			f.resume()
		}
	}
}

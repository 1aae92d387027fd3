// Package clock is a deadline that stands still while a person is asked.
package clock

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// TimeoutError is why a clock ended its context.
type TimeoutError struct{ after, waited time.Duration }

func (e *TimeoutError) Error() string {
	if e.waited > 0 {
		return fmt.Sprintf("no answer within %v, and %v more in which a person could act", e.after, e.waited)
	}
	return fmt.Sprintf("no answer within %v", e.after)
}
func (e *TimeoutError) Timeout() bool        { return true }
func (e *TimeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// Clock is a deadline that stands still while a person is asked. Its context ends with its parent, when the time is up,
// or with stop.
type Clock struct {
	context.Context
	end   context.CancelCauseFunc
	Limit time.Duration // negative means none

	mu        sync.Mutex // guards what follows; a clock locks its followers while it is locked, never the other way
	timer     *time.Timer
	waited    time.Duration
	left      time.Duration // when the timer was last started
	since     time.Time
	pauses    int
	followers map[*Clock]struct{} // stand still with this one
}

func New(parent context.Context, limit time.Duration) *Clock {
	c := &Clock{Limit: limit, left: limit}
	c.Context, c.end = context.WithCancelCause(parent)
	if limit >= 0 {
		c.since = time.Now()
		c.timer = time.AfterFunc(limit, c.ring)
	}
	return c
}

func (c *Clock) ring() {
	c.mu.Lock()
	paused, waited := c.pauses > 0, c.waited // the timer may have fired while it was being stopped
	c.mu.Unlock()
	if !paused {
		c.end(&TimeoutError{c.Limit, waited})
	}
}

// Waited says for how long it stood still in vain, for its TimeoutError.
func (c *Clock) Waited(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waited = d
}

// Stop ends the context and frees what the clock holds.
func (c *Clock) Stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil {
		c.timer.Stop()
	}
	c.end(context.Canceled)
}

// Pause stops time until resume is called, which must happen once.
func (c *Clock) Pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pauses++
	if c.pauses == 1 {
		if c.timer != nil && c.timer.Stop() {
			c.left -= time.Since(c.since)
		}
		for f := range c.followers {
			f.Pause()
		}
	}
}

func (c *Clock) Resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pauses--
	if c.pauses == 0 {
		if c.timer != nil {
			c.since = time.Now()
			c.timer.Reset(max(c.left, 0))
		}
		for f := range c.followers {
			f.Resume()
		}
	}
}

// Follow makes f stand still whenever c does, until unfollow is called.
func (c *Clock) Follow(f *Clock) (unfollow func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.followers == nil {
		c.followers = map[*Clock]struct{}{}
	}
	c.followers[f] = struct{}{}
	if c.pauses > 0 {
		f.Pause()
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.followers, f)
		if c.pauses > 0 {
			f.Resume()
		}
	}
}

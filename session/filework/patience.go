package filework

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/session"
)

const (
	lookWithin = 30 * time.Second // finding out where a path leads, where nothing else bounds it
	leastLook  = 5 * time.Second  // likewise, for callers who do not wait
	least      = time.Second      // who waits less does not wait
	workWithin = 10 * time.Minute // work without a time limit of its own
	listWithin = 2 * time.Minute  // a list, which a host may never end
)

// patience bounds how long a host may take to answer before the work itself has begun: no longer than the caller waits. It
// counts from the first time that the host's files are opened, for connecting has limits of its own.
type patience struct {
	most time.Duration

	mu    sync.Mutex // guards began
	began time.Time
}

// newPatience is for a caller who waits so long; a negative wait is not bounded.
func newPatience(wait time.Duration) *patience {
	switch {
	case wait < 0:
		wait = lookWithin
	case wait < least:
		wait = leastLook
	}
	return &patience{most: min(wait, lookWithin)}
}

// used is how long the host has taken so far.
func (p *patience) used() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.began.IsZero() {
		return 0
	}
	return time.Since(p.began)
}

// bound is ctx for as long as p lasts. It begins with the first call.
func (p *patience) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	p.mu.Lock()
	if p.began.IsZero() {
		p.began = time.Now()
	}
	end := p.began.Add(p.most)
	p.mu.Unlock()
	return context.WithDeadlineCause(ctx, end, p.over())
}

// over is the error of a host that takes too long.
func (p *patience) over() error {
	return &session.Error{Op: "file", Code: "timeout", Retriable: true,
		Err: fmt.Errorf("the host's file service did not answer within %v; nothing was changed. Try again with a longer wait_s", p.most)}
}

package audit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// Anchorer keeps heads of a chain where whoever can edit the chain cannot edit them. Anchor returns nil once the place
// has acknowledged a, and an error otherwise; ctx bounds it. It is called by one goroutine at a time. One that is an
// io.Closer is closed with its Tee.
type Anchorer interface {
	Anchor(ctx context.Context, a Anchor) error
}

// AnchorFunc makes an Anchorer of a function.
type AnchorFunc func(ctx context.Context, a Anchor) error

// Anchor calls f.
func (f AnchorFunc) Anchor(ctx context.Context, a Anchor) error { return f(ctx, a) }

// Required says which requests a place must have acknowledged before anything is sent.
type Required int

const (
	Never  Required = iota // it learns of records soon after
	Prod                   // those on hosts of tier prod, which is also what a host without a tier counts as
	Always                 // all
)

// ParseRequired reads "never", "prod" or "always"; "" is never.
func ParseRequired(s string) (Required, error) {
	switch s {
	case "", "never":
		return Never, nil
	case "prod":
		return Prod, nil
	case "always":
		return Always, nil
	}
	return Never, fmt.Errorf("audit: required is %q: it must be never, prod or always", s)
}

// String is what ParseRequired reads.
func (r Required) String() string { return [...]string{"never", "prod", "always"}[r] }

// tierProd is the tier for which Prod is meant.
const tierProd = "prod"

// covers reports whether e must be acknowledged before what it announces may be done. What is refused sends nothing.
func (r Required) covers(e *Event) bool {
	if r == Never || e.Kind.after() || e.Verdict != "" && e.Verdict != "allow" {
		return false
	}
	return r == Always || e.Tier == "" || e.Tier == tierProd
}

// DefaultPlaceTimeout is how long a place may take to acknowledge.
const DefaultPlaceTimeout = 5 * time.Second

// Place is where the heads of a chain go.
type Place struct {
	Name     string // for people: "file /mnt/worm/heads", "https://log.example.com/anchor"
	To       Anchorer
	Required Required
	Timeout  time.Duration // of one head; zero means DefaultPlaceTimeout, negative none
}

// maxQueue is how many heads wait for a place that cannot be reached.
const maxQueue = 512

// place is a Place in use.
type place struct {
	Place
	head   func() (Anchor, error)
	wake   chan struct{}         // there may be something new; holds one
	needed atomic.Bool           // something was recorded that it must acknowledge
	lost   atomic.Pointer[error] // how the last try failed; nil where it did not

	// turn is the queue for sending, and guards what follows: whoever holds it finds what was acknowledged already, or
	// sends for all who wait. It is a channel and no mutex because whoever waits here waits for a network.
	turn    chan struct{}
	have    uint64 // acknowledged: records up to this one
	tried   uint64 // the last try covered records up to this one
	failed  error  // how it went
	waiting []Anchor
	told    bool      // that it cannot be reached
	end     time.Time // of every try; zero means that there is none
}

// news says that there may be something new.
func (p *place) news() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// catchUp sends a, if it is new, and what waits. text is what people should be told.
func (p *place) catchUp(a Anchor) (text string, err error) {
	p.turn <- struct{}{}
	defer func() { <-p.turn }()
	if a.Count > p.have || len(p.waiting) > 0 {
		err = p.send(&a)
	}
	switch {
	case err != nil && !p.told:
		text = fmt.Sprintf("cannot anchor the audit log at %s: %v; Fairlead tries again from time to time", p.Name, err)
	case err == nil && p.told:
		text = fmt.Sprintf("the audit log is anchored at %s again", p.Name)
	}
	p.told = err != nil
	return text, err
}

// endBy bounds all that is sent from now on.
func (p *place) endBy(end time.Time) {
	p.turn <- struct{}{}
	defer func() { <-p.turn }()
	p.end = end
}

// reach returns once the place has acknowledged a head that covers count records, or with why it has not. Callers that
// waited for the same try share its outcome, so that a fleet does not wait for one timeout after the other.
func (p *place) reach(count uint64) error {
	p.turn <- struct{}{}
	defer func() { <-p.turn }()
	if p.have >= count {
		return nil
	}
	if p.failed != nil && p.tried >= count {
		return p.failed
	}
	return p.send(nil)
}

// send sends the current head, behind those that wait. turn is held. A head that cannot be taken is no fault of the place
// and is not told here: whoever records next is told by the File.
func (p *place) send(now *Anchor) error {
	if now == nil {
		a, err := p.head()
		if err != nil {
			return err
		}
		now = &a
	}
	p.tried = now.Count
	if n := len(p.waiting); n == 0 || p.waiting[n-1].Count < now.Count {
		p.waiting = append(p.waiting, *now)
	}
	for len(p.waiting) > 0 {
		if p.failed = p.one(p.waiting[0]); p.failed != nil {
			failed := p.failed
			p.lost.Store(&failed)
			p.waiting = thin(p.waiting)
			return p.failed
		}
		p.have = max(p.have, p.waiting[0].Count)
		p.waiting = p.waiting[1:]
	}
	p.waiting = nil
	p.lost.Store(nil)
	return nil
}

func (p *place) one(a Anchor) error {
	ctx := context.Background()
	if p.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, p.Timeout, fmt.Errorf("it did not acknowledge within %v", p.Timeout))
		defer cancel()
	}
	if !p.end.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadlineCause(ctx, p.end, errors.New("it did not acknowledge before the end"))
		defer cancel()
	}
	err := p.To.Anchor(ctx, a)
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// thin keeps a queue within bounds: every second head goes, the last one stays. What is left still spans all the time
// that the place was away.
func thin(q []Anchor) []Anchor {
	if len(q) < maxQueue {
		return q
	}
	kept := q[:0]
	for i := (len(q) + 1) % 2; i < len(q); i += 2 {
		kept = append(kept, q[i])
	}
	return kept
}

func (p *place) close() error {
	if c, ok := p.To.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

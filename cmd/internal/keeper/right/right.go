// Package right ends what is done with a right when the right itself ends: that of a bearer token, or of a page.
//
// Whoever serves a request does so within a context of [Right.Use]. When the right ends, so do these contexts, before End
// returns, and [Why] tells the reason to whoever finds one over. The package has no goroutines and no global state.
package right

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Over is why a right has ended, in words for whoever had it. It is the cause of the contexts that have ended with it.
type Over string

// Error implements error.
func (o Over) Error() string { return string(o) }

// Right is one. The zero value is in force. It may be used concurrently.
type Right struct {
	mu   sync.Mutex // guards what follows
	over Over       // "" while it is in force
	uses map[*use]struct{}
}

// use is one of a right.
type use struct{ end context.CancelCauseFunc }

type useKey struct{}

// Use returns a context of ctx that ends with the right, and at the time until with the reason late; the zero time is never.
// Of a right that has ended it is over from the beginning. leave is called when there is no use for it any more.
func (r *Right) Use(ctx context.Context, until time.Time, late Over) (_ context.Context, leave func()) {
	u := &use{}
	ctx, u.end = context.WithCancelCause(context.WithValue(ctx, useKey{}, u))
	stop := func() bool { return false }
	if left := time.Until(until); !until.IsZero() && left <= 0 {
		u.end(late)
	} else if !until.IsZero() {
		// Canceled as by End, and no deadline: what cannot be written any more is no mistake of whoever writes then.
		stop = time.AfterFunc(left, func() { u.end(late) }).Stop
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over != "" {
		u.end(r.over)
	}
	if r.uses == nil {
		r.uses = map[*use]struct{}{}
	}
	r.uses[u] = struct{}{}
	return ctx, func() {
		r.mu.Lock()
		delete(r.uses, u)
		r.mu.Unlock()
		stop()
		u.end(nil)
	}
}

// End ends the right, and all that is done with it but what ctx is of: that asks for it, and may answer. The first reason counts.
func (r *Right) End(ctx context.Context, why Over) {
	own, _ := ctx.Value(useKey{}).(*use)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over == "" {
		r.over = why
	}
	for u := range r.uses {
		if u != own {
			u.end(r.over)
		}
	}
}

// Used reports whether something is being done with it.
func (r *Right) Used() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.uses) > 0
}

// Ended reports whether it was ended.
func (r *Right) Ended() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.over != ""
}

// Why returns why the right that ctx is a use of has ended, and "" while it is in force.
func Why(ctx context.Context) Over {
	var o Over
	if ctx.Err() != nil && errors.As(context.Cause(ctx), &o) {
		return o
	}
	return ""
}

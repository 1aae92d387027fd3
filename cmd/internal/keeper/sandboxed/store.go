package sandboxed

import (
	"context"
	"errors"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/session/store"
)

// storePatience is how long the keeper waits for a store before it says that it cannot be read.
const storePatience = 2 * time.Second

// watchStore asks the store every few seconds whether it can be read, until ctx ends: for health, and for those who list approvals.
func (r *Runner) watchStore(ctx context.Context) {
	tick := time.NewTicker(r.cfg.Look)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			r.look(ctx, r.cfg.Store.Ping)
		}
	}
}

// look reads something and notes whether that was possible. It returns what is wrong with the store, as a problem.
func (r *Runner) look(ctx context.Context, read func(context.Context) error) error {
	lctx, stop := context.WithTimeout(ctx, storePatience)
	defer stop()
	err := read(lctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = store.ErrUnavailable
	}
	text, fault := store.Fault(err)
	switch was := r.fault.Swap(&text); {
	case fault && (was == nil || *was != text):
		r.cfg.Log.Printf("the store: %v", err)
	case !fault && was != nil && *was != "":
		r.cfg.Log.Print("the store can be read again")
	}
	if fault {
		return problem.Store(err, text)
	}
	return nil
}

// Fault is what was wrong with the store a moment ago; "" is nothing.
func (r *Runner) Fault() string {
	if text := r.fault.Load(); text != nil {
		return *text
	}
	return ""
}

// ReadPending makes the desk know all that is pending in the store, or says why it cannot.
func (r *Runner) ReadPending(ctx context.Context) error {
	if r.cfg.Store.Shared() {
		return r.look(ctx, r.Reconcile)
	}
	return r.look(ctx, r.cfg.Store.Ping)
}

package keeper

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
func (t *terminal) watchStore(ctx context.Context) {
	tick := time.NewTicker(t.k.cfg.lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			t.look(ctx, t.store.Ping)
		}
	}
}

// look reads something and notes whether that was possible. It returns what is wrong with the store, as a problem.
func (t *terminal) look(ctx context.Context, read func(context.Context) error) error {
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
	switch was := t.fault.Swap(&text); {
	case fault && (was == nil || *was != text):
		t.k.log.Printf("the store: %v", err)
	case !fault && was != nil && *was != "":
		t.k.log.Print("the store can be read again")
	}
	if fault {
		return problem.Store(err, text)
	}
	return nil
}

// storeFault is what was wrong with the store a moment ago; "" is nothing.
func (k *Keeper) storeFault() string {
	if k.term == nil {
		return ""
	}
	if text := k.term.fault.Load(); text != nil {
		return *text
	}
	return ""
}

// unread says why the desk may not have all that is pending.
func (k *Keeper) unread() error {
	if text := k.storeFault(); text != "" {
		return errors.New(text)
	}
	return nil
}

// readPending makes the desk know all that is pending in the store, or says why it cannot.
func (k *Keeper) readPending(ctx context.Context) error {
	switch {
	case k.term == nil:
		return nil
	case k.cfg.Store.Shared():
		return k.term.look(ctx, k.term.reconcile)
	}
	return k.term.look(ctx, k.cfg.Store.Ping)
}

package keeper

import (
	"context"
	"errors"

	"github.com/fairlead-ssh/fairlead/session/store"
)

// A store in Postgres is shared by keepers. What waits can be answered at each of them; the store sees to it that one
// answer counts and one keeper runs it.

// reconcile takes back questions that were answered elsewhere, and asks here what was asked elsewhere.
func (t *terminal) reconcile(ctx context.Context) error {
	waiting, err := t.listed(ctx, store.Pending)
	if err != nil {
		return err
	}
	for _, id := range t.asking() {
		if _, ok := waiting[id]; ok {
			delete(waiting, id)
			continue
		}
		// What was asked after the list was made is pending, and not in it.
		if c, err := t.store.Command(ctx, id); err == nil && c.Status != store.Pending {
			t.takeBack(id)
		}
	}
	var errs []error
	for id := range waiting {
		if err := t.askAgain(ctx, id); err != nil && !errors.Is(err, store.ErrNotPending) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// asking returns the commands about which somebody is asked here.
func (t *terminal) asking() (ids []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, f := range t.flying {
		if f.asked != nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// canTakeBack says how the question about a flight is taken back.
func (t *terminal) canTakeBack(f *flight, how func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	f.asked = how
}

func (t *terminal) takeBack(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if f := t.flying[id]; f != nil && f.asked != nil {
		f.asked()
	}
}

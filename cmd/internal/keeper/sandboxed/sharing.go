package sandboxed

import (
	"context"
	"errors"

	"github.com/fairlead-ssh/fairlead/session/store"
)

// A store in Postgres is shared by keepers. What waits can be answered at each of them; the store sees to it that one
// answer counts and one keeper runs it.

// Reconcile takes back questions that were answered elsewhere, and asks here what was asked elsewhere.
func (r *Runner) Reconcile(ctx context.Context) error {
	waiting, err := r.listed(ctx, store.Pending)
	if err != nil {
		return err
	}
	for _, id := range r.asking() {
		if _, ok := waiting[id]; ok {
			delete(waiting, id)
			continue
		}
		// What was asked after the list was made is pending, and not in it.
		if c, err := r.cfg.Store.Command(ctx, id); err == nil && c.Status != store.Pending {
			r.takeBack(id)
		}
	}
	var errs []error
	for id := range waiting {
		if err := r.AskAgain(ctx, id); err != nil && !errors.Is(err, store.ErrNotPending) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// asking returns the commands about which somebody is asked here.
func (r *Runner) asking() (ids []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, f := range r.flying {
		if f.asked != nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// canTakeBack says how the question about a flight is taken back.
func (r *Runner) canTakeBack(f *flight, how func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f.asked = how
}

func (r *Runner) takeBack(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f := r.flying[id]; f != nil && f.asked != nil {
		f.asked()
	}
}

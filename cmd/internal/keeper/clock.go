package keeper

import (
	"time"

	"github.com/fairlead-ssh/fairlead/session/policy"
)

// now is the clock of what other keepers may read too, when it is over or how old it is: the store's. What stays in this process
// is measured with time.Now, which setting this machine's clock does not change.
func (k *Keeper) now() time.Time {
	if k.cfg.Store != nil {
		return k.cfg.Store.Now()
	}
	return time.Now()
}

// here is when a moment of the store's clock is by this process's.
func (k *Keeper) here(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return time.Now().Add(t.Sub(k.now()))
}

// byStore tells the times of a question that was asked in this process by the clock of all that lies at the desk.
func (k *Keeper) byStore(q policy.Question) policy.Question {
	at, now := time.Now(), k.now()
	for _, t := range []*time.Time{&q.Asked, &q.Expires} {
		if !t.IsZero() {
			*t = now.Add(t.Sub(at))
		}
	}
	return q
}

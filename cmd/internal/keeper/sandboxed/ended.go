package sandboxed

import (
	"context"
	"errors"

	"github.com/fairlead-ssh/fairlead/session/store"
)

// endedAll tells the end of commands that the store has ended.
func (r *Runner) endedAll(ctx context.Context, ids []string) {
	for _, id := range ids {
		if c, err := r.cfg.Store.Command(ctx, id); err == nil {
			r.cfg.Ended(c, "")
		}
	}
}

// withdraw ends a command that has not begun.
func (r *Runner) withdraw(ctx context.Context, id, outcome, why string) error {
	c, err := r.cfg.Store.Withdraw(ctx, id, outcome, why)
	if err == nil {
		r.cfg.Ended(c, "")
	}
	return err
}

// TokenRevoked ends what was requested with a token and has not begun.
func (r *Runner) TokenRevoked(ctx context.Context, token string) error {
	ids, err := r.cfg.Store.PendingOf(ctx, token)
	for _, id := range ids {
		if e := r.withdraw(ctx, id, "denied", "the token that it was requested with was revoked"); e != nil && !errors.Is(e, store.ErrNotPending) && !errors.Is(e, store.ErrClaimed) {
			err = errors.Join(err, e)
			continue
		}
		r.takeBack(id) // what asks about it puts its end on record
	}
	return err
}

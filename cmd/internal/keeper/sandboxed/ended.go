package sandboxed

import (
	"context"
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

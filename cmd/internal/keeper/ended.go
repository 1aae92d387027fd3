package keeper

import (
	"cmp"
	"context"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/events"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/store"
)

// ended tells that a command in a sandbox has, once that is kept: one event for each, whether it ran or not. approval is the
// ask that was answered; "" leaves that to its Result.
func (t *terminal) ended(c store.Command, approval string) {
	e := wire.Event{
		Kind: "done", ID: c.ID, Command: c.ID, Approval: approval, Principal: c.RequestedBy, Host: c.Host, Status: c.Outcome, ExitCode: c.ExitCode,
	}
	if r := commandJSON(c).Exec; r != nil {
		e.ID, e.Exec, e.Approval = r.Exec, r.Exec, cmp.Or(approval, events.ApprovalOf(r.Decision.Approval))
	}
	t.k.events.Add(e)
	t.k.tellEnded(e, c)
}

// endedAll tells it of commands that the store has ended.
func (t *terminal) endedAll(ctx context.Context, ids []string) {
	for _, id := range ids {
		if c, err := t.store.Command(ctx, id); err == nil {
			t.ended(c, "")
		}
	}
}

// withdraw ends a command that has not begun.
func (t *terminal) withdraw(ctx context.Context, id, outcome, why string) error {
	c, err := t.store.Withdraw(ctx, id, outcome, why)
	if err == nil {
		t.ended(c, "")
	}
	return err
}

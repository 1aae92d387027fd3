package boxes

import (
	"cmp"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/events"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/store"
)

// commandEnded tells that a command in a sandbox has, once that is kept: one event for each, whether it ran or not. approval
// is the ask that was answered; "" leaves that to its Result.
func (bs *Boxes) commandEnded(c store.Command, approval string) {
	e := wire.Event{
		Kind: "done", ID: c.ID, Command: c.ID, Approval: approval, Principal: c.RequestedBy, Host: c.Host, Status: c.Outcome, ExitCode: c.ExitCode,
	}
	if r := commandJSON(c).Exec; r != nil {
		e.ID, e.Exec, e.Approval = r.Exec, r.Exec, cmp.Or(approval, events.ApprovalOf(r.Decision.Approval))
	}
	bs.Ended(e, c)
}

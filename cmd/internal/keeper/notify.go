package keeper

import (
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/events"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/notify"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/redact"
	"github.com/fairlead-ssh/fairlead/session/store"
)

// maxTold is how much of each text other programs are told.
const maxTold = 2 << 10

// told returns what makes texts about a command fit for other programs: without secrets, also those that the command
// names, and not long.
func (k *Keeper) told(command string) func(text string) string {
	set := k.secrets.With(command)
	return func(text string) string {
		text, _ = set.String(text, redact.Guarded)
		return printable.Clip(text, maxTold)
	}
}

// tellAsk tells other programs what happened to an ask. What it was about is told when it is asked.
func (k *Keeper) tellAsk(a approval.Event) {
	if !k.notify.Wants(string(a.Kind)) {
		return
	}
	_, command := events.Parts(a.Exec)
	e := notify.Event{Kind: string(a.Kind), Approval: a.ID, Exec: a.Exec, CommandID: command, Principal: a.Principal}
	if q := a.Question; q != nil {
		told := k.told(q.Command)
		e.Host, e.Tier, e.Class = q.Host.Name, q.Host.TierName(), string(q.Decision.Class)
		e.Command, e.CWD, e.Reason, e.Expires = told(q.Command), told(q.Dir), told(q.Reason), wire.Moment(q.Expires)
	}
	k.notify.Send(e)
}

// tellDone tells other programs that a command has ended.
func (k *Keeper) tellDone(principal string, r *session.Result) {
	if !k.notify.Wants("done") {
		return
	}
	told := k.told(r.Command)
	k.notify.Send(notify.Event{
		Kind: "done", Exec: r.Exec, Approval: events.ApprovalOf(r.Decision.Approval), Principal: principal, Host: r.Host, Class: string(r.Decision.Class),
		Command: told(r.Command), CWD: told(r.Dir), Status: string(r.Status), ExitCode: r.ExitCode,
	})
}

// tellEnded tells other programs that a command in a sandbox has ended. e is what readers of events are told.
func (k *Keeper) tellEnded(e wire.Event, c store.Command) {
	if !k.notify.Wants("done") {
		return
	}
	told := k.told(c.Command)
	k.notify.Send(notify.Event{
		Kind: "done", Exec: e.Exec, CommandID: e.Command, Approval: e.Approval, Principal: e.Principal, Host: e.Host, Class: c.Class,
		Command: told(c.Command), CWD: told(c.Cwd), Reason: told(c.AskReason), Status: e.Status, ExitCode: e.ExitCode,
	})
}

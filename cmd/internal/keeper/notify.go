package keeper

import (
	"strings"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/notify"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/redact"
	"github.com/fairlead-ssh/fairlead/session/store"
)

// maxTold is how much of each text other programs are told.
const maxTold = 2 << 10

// told is a text as other programs get it: without secrets, and not long.
func (k *Keeper) told(text string) string {
	text, _ = k.secrets.String(text, redact.Guarded)
	if len(text) > maxTold {
		text = strings.ToValidUTF8(text[:maxTold], "") + "…"
	}
	return text
}

// tellAsk tells other programs what happened to an ask. What it was about is told when it is asked.
func (k *Keeper) tellAsk(a approval.Event) {
	if !k.notify.Wants(string(a.Kind)) {
		return
	}
	_, command := parts(a.Exec)
	e := notify.Event{Kind: string(a.Kind), Approval: a.ID, Exec: a.Exec, CommandID: command, Principal: a.Principal}
	if q := a.Question; q != nil {
		k.secrets.LearnFromCommand(q.Command)
		e.Host, e.Tier, e.Class = q.Host.Name, q.Host.TierName(), string(q.Decision.Class)
		e.Command, e.CWD, e.Reason, e.Expires = k.told(q.Command), k.told(q.Dir), k.told(q.Reason), moment(q.Expires)
	}
	k.notify.Send(e)
}

// tellDone tells other programs that a command has ended.
func (k *Keeper) tellDone(principal string, r *session.Result) {
	if !k.notify.Wants("done") {
		return
	}
	k.notify.Send(notify.Event{
		Kind: "done", Exec: r.Exec, Approval: approvalOf(r.Decision.Approval), Principal: principal, Host: r.Host, Class: string(r.Decision.Class),
		Command: k.told(r.Command), CWD: k.told(r.Dir), Status: string(r.Status), ExitCode: r.ExitCode,
	})
}

// tellEnded tells other programs that a command in a sandbox has ended. e is what readers of events are told.
func (k *Keeper) tellEnded(e wire.Event, c store.Command) {
	if !k.notify.Wants("done") {
		return
	}
	k.notify.Send(notify.Event{
		Kind: "done", Exec: e.Exec, CommandID: e.Command, Approval: e.Approval, Principal: e.Principal, Host: e.Host, Class: c.Class,
		Command: k.told(c.Command), CWD: k.told(c.Cwd), Reason: k.told(c.AskReason), Status: e.Status, ExitCode: e.ExitCode,
	})
}

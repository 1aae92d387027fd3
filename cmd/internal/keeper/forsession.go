package keeper

import (
	"context"
	"net/http"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/route"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/redact"
)

type revokeIn struct {
	ID     string `path:"id" maxLength:"80"`
	Reason string `query:"reason" maxLength:"4096" doc:"for the audit log"`
}

// addForSession adds the approvals that hold for a session.
func (k *Keeper) addForSession(a *route.API) {
	const path, tag = "/v1/session-approvals", "approvals"
	route.Add(a, route.Route{Method: "GET", Path: path, ID: "list-session-approvals", Summary: "Approvals that hold for a session or a sandbox", Tag: tag, Need: access.NeedWatch},
		func(context.Context, *access.Caller, *route.None) (*route.Body[wire.SessionApprovals], error) {
			out := &wire.SessionApprovals{Items: []wire.SessionApproval{}}
			for _, g := range k.desk.ForSessions() {
				out.Items = append(out.Items, k.forSessionJSON(g))
			}
			return route.JSON(out), nil
		})
	route.Add(a, route.Route{Method: "DELETE", Path: path + "/{id}", ID: "revoke-session-approval", Summary: "Revoke an approval that holds for a session: the next command needs an approval of its own",
		Tag: tag, Need: access.NeedApprove, Status: http.StatusNoContent},
		func(_ context.Context, c *access.Caller, in *revokeIn) (*route.None, error) {
			if err := k.trees.Admit(c.Pid); err != nil {
				return nil, err
			}
			return nil, k.desk.Revoke(in.ID, c.Principal, in.Reason)
		})
}

func (k *Keeper) forSessionJSON(g approval.ForSession) wire.SessionApproval {
	set := k.secrets.With(g.Command)
	command, _ := set.String(g.Command, redact.Guarded)
	scope, _ := set.String(g.Scope, redact.Guarded) // its words are of the command
	return wire.SessionApproval{
		ID: g.ID, Scope: scope, Command: command, Principal: g.Owner, Host: g.Host, Session: g.Session, Sandbox: g.Sandbox, CWD: g.CWD,
		Class: g.Class, ApprovedBy: g.By, Proof: string(g.Proof), WithInput: g.Input, Given: g.Given.UTC(), Until: g.Until.UTC(), Used: g.Used,
	}
}

// lasts reports whether the session of a question takes more than one command: it is open, and somebody has opened it. A
// sandbox takes many.
func (k *Keeper) lasts(q policy.Question) bool {
	if q.Session == "" {
		return q.Sandbox != ""
	}
	for _, r := range k.realms.All(&access.Caller{Principal: q.Principal}) {
		if e, err := r.Reg.Get(q.Principal, q.Session); err == nil && !e.Single() {
			return !r.IsOurs(q.Session)
		}
	}
	return false
}

// forSessionEnded puts on record that an approval for a session holds no longer.
func (k *Keeper) forSessionEnded(e approval.Ended) {
	command, _ := k.secrets.With(e.Command).String(e.Command, 0)
	ev := audit.Event{
		Kind: audit.ApprovalEnd, ID: e.ID, Principal: e.Owner, Host: e.Host, Session: e.Session, Sandbox: e.Sandbox, CWD: e.CWD, Command: command,
		Class: e.Class, Approval: e.ID, ApprovedBy: e.By, RevokedBy: e.RevokedBy, ForSession: e.Scope, Status: e.How, Reason: e.Reason,
	}
	if err := k.sink.Record(context.WithoutCancel(k.base), ev); err != nil {
		k.log.Printf("the end of approval %s cannot be recorded: %v", e.ID, err)
	}
}

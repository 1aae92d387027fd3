package terminal

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/coder/websocket"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/terminals"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// noTerminal says why there is none: to a page over the connection that it has asked for, since its browser tells it nothing
// of an answer.
func noTerminal(w http.ResponseWriter, r *http.Request, c *access.Caller, p *wire.Problem) {
	if c.Role != access.Page || !isUpgrade(r) {
		problem.Write(w, p)
		return
	}
	ws, err := acceptTerminal(w, r)
	if err != nil {
		return // which has been answered
	}
	defer ws.CloseNow()
	if over := access.Over(r.Context()); over != nil {
		p = over
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), closeTime)
	defer cancel()
	if text, err := json.Marshal(wire.TerminalSays{Problem: p}); err == nil && ws.Write(ctx, websocket.MessageText, text) == nil {
		_ = ws.Close(websocket.StatusPolicyViolation, "")
	}
}

// refuseTerminal puts a refusal on record.
func (ts *Terminals) refuseTerminal(c *access.Caller, h hosts.Host, line string, d policy.Decision) error {
	why := d.Reason
	if d.Verdict == policy.Ask {
		why += "; it needs an approval, and approvals are not available here"
	}
	e := &session.Error{Op: "shell", Host: h.Name, Code: "denied", Err: errors.New(why)}
	entry := terminals.NewEntry(ts.Record, c.Principal, h, session.Peer{})
	err := entry.Request(line, d, "")
	if err == nil {
		err = entry.Result(terminals.Outcome{Result: session.Result{Status: session.StatusDenied, Err: e}}, "", terminals.Recorded{})
	}
	if err != nil {
		return problem.New(http.StatusInternalServerError, "audit", "%v", err)
	}
	return e
}

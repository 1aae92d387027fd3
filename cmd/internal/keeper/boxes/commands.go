package boxes

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/params"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/route"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/store"
)

type (
	newCommandIn struct {
		Key  string `header:"Idempotency-Key" maxLength:"200" doc:"the same key with the same request gives the same command, for 24 hours"`
		Body wire.NewCommand
	}
	commandIn struct {
		ID string `path:"id" maxLength:"80"`
	}
	approveIn struct {
		ID   string `path:"id" maxLength:"80"`
		Key  string `header:"Idempotency-Key" maxLength:"200" doc:"retries with the same key return the first answer for 24 hours"`
		Body *wire.Approve
	}
	rejectIn struct {
		ID   string `path:"id" maxLength:"80"`
		Body *wire.Reject
	}
	commandsIn struct {
		Sandbox string `query:"sandbox_id" maxLength:"80"`
		Status  string `query:"status" enum:"pending,approved,executed,failed,rejected"`
		Session string `query:"session_id" maxLength:"80"`
		Limit   int    `query:"limit" minimum:"0" maximum:"200" doc:"how many (default 50)"`
		Cursor  string `query:"cursor" maxLength:"500"`
	}
	commandOut struct {
		Status int
		Body   *wire.Command
	}
)

func (bs *Boxes) addCommands(a *route.API) {
	const path = "/agent/terminal/commands"
	route.Add(a, route.Route{Method: "POST", Path: path, ID: "create-command", Tag: terminalTag, Need: access.NeedRun, Status: http.StatusCreated, Also: route.WhileItRuns,
		Summary: "Run a command in a sandbox: 201 when it has ended or was rejected, 202 while it runs or is pending"}, bs.createCommand)
	route.Add(a, route.Route{Method: "GET", Path: path, ID: "list-commands", Summary: "Commands: one's own, or all for people", Tag: terminalTag, Need: access.NeedSee}, bs.listCommands)
	route.Add(a, route.Route{Method: "GET", Path: path + "/{id}", ID: "get-command", Summary: "One command", Tag: terminalTag, Need: access.NeedSee},
		func(ctx context.Context, c *access.Caller, in *commandIn) (*commandOut, error) {
			cmd, err := bs.command(ctx, c, in.ID)
			return &commandOut{http.StatusOK, commandJSON(cmd)}, err
		})
	route.Add(a, route.Route{Method: "POST", Path: path + "/{id}/approve", ID: "approve-command", Summary: "Approve a pending command, and run it", Tag: terminalTag, Need: access.NeedApprove},
		func(ctx context.Context, c *access.Caller, in *approveIn) (*commandOut, error) {
			return bs.approveOnce(ctx, c, in)
		})
	route.Add(a, route.Route{Method: "POST", Path: path + "/{id}/reject", ID: "reject-command", Summary: "Reject a pending command", Tag: terminalTag, Need: access.NeedApprove},
		func(ctx context.Context, c *access.Caller, in *rejectIn) (*commandOut, error) {
			reason := ""
			if in.Body != nil {
				reason = in.Body.Reason
			}
			return bs.answerCommand(ctx, c, in.ID, false, wire.Answer{Reason: reason})
		})
	route.Add(a, route.Route{Method: "POST", Path: path + "/{id}/finalize", ID: "finalize-command", Summary: "Freeze a command that has ended", Tag: terminalTag, Need: access.NeedRun},
		func(ctx context.Context, c *access.Caller, in *commandIn) (*commandOut, error) {
			if _, err := bs.command(ctx, c, in.ID); err != nil {
				return nil, err
			}
			cmd, err := bs.Store.Finalize(ctx, in.ID)
			return &commandOut{http.StatusOK, commandJSON(cmd)}, err
		})
}

// command finds one that a caller may see.
func (bs *Boxes) command(ctx context.Context, c *access.Caller, id string) (store.Command, error) {
	cmd, err := bs.Store.Command(ctx, id)
	if errors.Is(err, store.ErrNotFound) || err == nil && cmd.RequestedBy != c.Principal && !c.Role.May(access.NeedWatch) {
		return cmd, problem.NotFound("command", id)
	}
	return cmd, err
}

func (bs *Boxes) listCommands(ctx context.Context, c *access.Caller, in *commandsIn) (*route.Body[wire.Commands], error) {
	f := store.CommandFilter{Sandbox: in.Sandbox, Session: in.Session, Status: store.Status(in.Status)}
	if !c.Role.May(access.NeedWatch) {
		f.Principal = c.Principal
	}
	page, err := bs.Store.Commands(ctx, f, store.Paging{Limit: in.Limit, Cursor: in.Cursor})
	if err != nil {
		return nil, err
	}
	out := &wire.Commands{Items: make([]wire.Command, len(page.Items)), Next: page.Next}
	for i, cmd := range page.Items {
		out.Items[i] = *commandJSON(cmd)
	}
	return route.JSON(out), nil
}

func commandJSON(c store.Command) *wire.Command {
	out := &wire.Command{
		ID: c.ID, Session: c.Session, Sandbox: c.Sandbox, Host: c.Host, Command: c.Command, CWD: c.Cwd, Status: string(c.Status),
		Verdict: c.Verdict, Reason: c.Reason, Outcome: c.Outcome, Enforcement: c.Enforcement, Stdout: c.Stdout, Stderr: c.Stderr, ExitCode: c.ExitCode,
		RequestedBy: c.RequestedBy, ApprovedBy: c.ApprovedBy, Created: c.Created, Updated: c.Updated, Finalized: wire.Moment(c.Finalized),
	}
	if len(c.Exec) > 0 {
		var r wire.Result
		if json.Unmarshal(c.Exec, &r) == nil {
			out.Exec = &r
		}
	}
	return out
}

// answer is what a yes says; without a body it says nothing more.
func (in *approveIn) answer() wire.Answer {
	b := in.Body
	if b == nil {
		return wire.Answer{}
	}
	return wire.Answer{Digest: b.Digest, Reason: b.Reason, Signature: b.Signature, Proof: b.Proof, ForSession: b.ForSession}
}

// approveOnce approves a command, and answers a yes that is sent again with its key as the first.
func (bs *Boxes) approveOnce(ctx context.Context, c *access.Caller, in *approveIn) (*commandOut, error) {
	if in.Key == "" {
		return bs.answerCommand(ctx, c, in.ID, true, in.answer())
	}
	cmd, err := bs.command(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	key := store.Key{Principal: c.Principal, Key: in.Key, Request: []byte("approve " + in.ID), Target: in.ID}
	was, err := bs.Store.ClaimKey(ctx, key)
	switch {
	case err != nil:
		return nil, err
	case was.State == store.KeyConflict:
		return nil, problem.KeyUsed()
	case was.State == store.KeySame && cmd.Status != store.Pending:
		cmd, err := bs.Runner.Wait(ctx, in.ID, route.MaxWait)
		return &commandOut{http.StatusOK, commandJSON(cmd)}, err
	}
	out, err := bs.answerCommand(ctx, c, in.ID, true, in.answer())
	if err != nil && was.State == store.KeyNew {
		if rerr := bs.Store.ReleaseKey(context.WithoutCancel(ctx), key); rerr != nil {
			bs.Log.Printf("an idempotency key was not given back: %v", rerr)
		}
	}
	return out, err
}

// answerCommand answers for a command that waits, and returns its record when that has been done.
func (bs *Boxes) answerCommand(ctx context.Context, c *access.Caller, id string, approve bool, b wire.Answer) (*commandOut, error) {
	cmd, err := bs.command(ctx, c, id)
	if err != nil {
		return nil, err
	}
	if cmd.Status != store.Pending {
		return nil, notPending(cmd)
	}
	if bs.Store.Shared() {
		if err := bs.Runner.AskAgain(ctx, id); err != nil {
			return nil, err
		}
	}
	for _, p := range bs.Desk.List() {
		if p.Question.Exec != id {
			continue
		}
		if b.Digest == "" {
			if p.ForSession, err = params.Scope(b.ForSession); err != nil {
				return nil, err
			}
			b.Digest = string(p.Digest())
		}
		if err := bs.Answer(c, p.ID, approve, b); err != nil {
			return nil, err
		}
		cmd, err := bs.Runner.Wait(ctx, id, route.MaxWait)
		if err == nil && cmd.Status == store.Pending {
			return nil, problem.ErrEnding // the answer came too late to be kept: it waits for another
		}
		return &commandOut{http.StatusOK, commandJSON(cmd)}, err
	}
	if cmd, err = bs.command(ctx, c, id); err != nil { // it was answered meanwhile
		return nil, err
	}
	return nil, notPending(cmd)
}

// notPending is the conflict of an answer for what has one.
func notPending(cmd store.Command) error {
	if cmd.Status == store.Pending {
		return store.ErrNotPending // its question is no more, and its end not written yet
	}
	return fmt.Errorf("%w: command %s is %s", store.ErrNotPending, cmd.ID, cmd.Status)
}

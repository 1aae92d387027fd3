package keeper

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/onlyonce"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/params"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/route"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/approval/sshsig"
	"github.com/fairlead-ssh/fairlead/session/redact"
)

type approvalIn struct {
	ID string `path:"id" maxLength:"80"`

	ForSession bool   `query:"for_session" doc:"as an approval for the session: the document and its digest say so"`
	Prefix     string `query:"prefix" maxLength:"4096" doc:"with for_session: for commands that begin with these literal words"`
	ForS       int64  `query:"for_s" minimum:"0" maximum:"86400" doc:"with for_session: for so many seconds"`
}

// scope is what the query asks to be shown.
func (in *approvalIn) scope() (*approval.Scope, error) {
	switch {
	case in.ForSession:
		return params.Scope(&wire.ForSession{Prefix: in.Prefix, ForS: in.ForS})
	case in.Prefix != "" || in.ForS != 0:
		return nil, problem.Invalid("prefix and for_s need for_session=true")
	}
	return nil, nil
}

type answerIn struct {
	ID   string `path:"id" maxLength:"80"`
	Body wire.Answer
}

type yesIn struct {
	ID   string `path:"id" maxLength:"80"`
	Key  string `header:"Idempotency-Key" maxLength:"200" doc:"retries with the same key return the first answer for 24 hours"`
	Body wire.Answer
}

func (k *Keeper) addApprovals(a *route.API) {
	const tag = "approvals"
	route.Add(a, route.Route{Method: "GET", Path: "/v1/approvals", ID: "list-approvals", Summary: "Pending approvals", Tag: tag, Need: access.NeedWatch},
		func(ctx context.Context, c *access.Caller, _ *route.None) (*route.Body[wire.Approvals], error) {
			out := &wire.Approvals{Items: []wire.Approval{}}
			unread := k.readPending(ctx)
			for _, p := range k.desk.List() {
				s := p.Summary()
				out.Items = append(out.Items, wire.Approval{
					ID: s.ID, Exec: p.Question.Exec, Principal: s.Principal, Host: s.Host, Tier: s.Tier, Class: s.Class, FirstLine: k.firstLine(c, p), Lines: s.Lines,
					Bytes: s.Bytes, Typed: s.Typed, Asked: wire.Moment(s.Asked), Expires: wire.Moment(s.Expires),
				})
			}
			if unread != nil && len(out.Items) == 0 {
				return nil, unread // nothing was found, which is not that nothing is pending
			}
			out.Store = k.storeFault()
			return route.JSON(out), nil
		})
	route.Add(a, route.Route{Method: "GET", Path: "/v1/approvals/{id}", ID: "show-approval", Summary: "An approval in full: what an answer is bound to", Tag: tag, Need: access.NeedApprove},
		func(_ context.Context, _ *access.Caller, in *approvalIn) (*route.Body[wire.Document], error) {
			p, err := k.desk.Get(in.ID)
			if err != nil {
				return nil, err
			}
			if p.ForSession, err = in.scope(); err != nil {
				return nil, err
			}
			if err := k.desk.MayCover(p); err != nil {
				return nil, err
			}
			out := &wire.Document{ID: p.ID, Digest: string(p.Digest()), Document: p.Document()}
			if p.TakesInput() {
				p.WithInput = true
				out.DigestWithInput = string(p.Digest())
			}
			return route.JSON(out), nil
		})
	route.Add(a, route.Route{Method: "POST", Path: "/v1/approvals/{id}/approve", ID: "approve", Summary: "Approve exactly what was shown", Tag: tag, Need: access.NeedApprove},
		func(ctx context.Context, c *access.Caller, in *yesIn) (*route.None, error) {
			_, err := onlyonce.Do(ctx, k.onces, c.Principal, in.Key, struct{ Approve, Digest string }{in.ID, in.Body.Digest}, func() (route.None, error) {
				return route.None{}, k.answer(c, in.ID, true, in.Body)
			})
			return nil, err
		})
	route.Add(a, route.Route{Method: "POST", Path: "/v1/approvals/{id}/reject", ID: "reject", Summary: "Say no", Tag: tag, Need: access.NeedApprove},
		func(_ context.Context, c *access.Caller, in *answerIn) (*route.None, error) {
			return nil, k.answer(c, in.ID, false, in.Body)
		})
}

// firstLine is what a list shows of a command: to approvers its exact bytes, as in the document, and to others redacted.
func (k *Keeper) firstLine(c *access.Caller, p approval.Pending) string {
	if !c.Role.May(access.NeedApprove) {
		command := p.Question.Command // all of it: a secret may go on after the line, or after where the list truncates it
		p.Question.Command, _ = k.secrets.With(command).String(command, redact.Guarded)
	}
	return p.Summary().FirstLine
}

// answer passes an answer on.
func (k *Keeper) answer(c *access.Caller, id string, approved bool, b wire.Answer) error {
	scope, err := params.Scope(b.ForSession)
	if err != nil {
		return err
	}
	r := approval.Response{
		ForSession: scope, ID: id, Digest: approval.Digest(b.Digest), By: c.Principal, Approved: approved, Reason: b.Reason, WithInput: b.WithInput, Proof: approval.Proof(b.Proof),
	}
	if b.Signature != "" {
		sig, err := signatureOf(b.Signature)
		if err != nil {
			return err
		}
		r.Signature = sig
	}
	return k.desk.Answer(r)
}

// signatureOf is a signature as ssh-keygen writes it. It comes so, or in base64: of that text, or of what its lines hold.
func signatureOf(text string) ([]byte, error) {
	text = strings.TrimSpace(text)
	if !strings.HasPrefix(text, "-----BEGIN ") {
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil, problem.Invalid("the signature is neither armored nor base64")
		}
		if sig, err := sshsig.ParseBinary(raw); err == nil {
			return sig.Armor(), nil
		}
		text = strings.TrimSpace(string(raw))
	}
	return []byte(text + "\n"), nil
}

// storeFault is what was wrong with the store a moment ago; "" is nothing.
func (k *Keeper) storeFault() string {
	if k.boxes.Runner == nil {
		return ""
	}
	return k.boxes.Runner.Fault()
}

// unread says why the desk may not have all that is pending.
func (k *Keeper) unread() error {
	if text := k.storeFault(); text != "" {
		return errors.New(text)
	}
	return nil
}

// readPending makes the desk know all that is pending in the store, or says why it cannot.
func (k *Keeper) readPending(ctx context.Context) error {
	if k.boxes.Runner == nil {
		return nil
	}
	return k.boxes.Runner.ReadPending(ctx)
}

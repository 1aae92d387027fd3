package keeper

import (
	"context"
	"encoding/base64"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/approval/sshsig"
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
		return scopeOf(&wire.ForSession{Prefix: in.Prefix, ForS: in.ForS})
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

func (k *Keeper) addApprovals(a *api) {
	const tag = "approvals"
	add(a, route{method: "GET", path: "/v1/approvals", id: "list-approvals", summary: "Pending approvals", tag: tag, need: access.NeedWatch},
		func(ctx context.Context, _ *access.Caller, _ *none) (*body[wire.Approvals], error) {
			out := &wire.Approvals{Items: []wire.Approval{}}
			unread := k.readPending(ctx)
			for _, p := range k.desk.List() {
				s := p.Summary()
				out.Items = append(out.Items, wire.Approval{
					ID: s.ID, Exec: p.Question.Exec, Principal: s.Principal, Host: s.Host, Tier: s.Tier, Class: s.Class, FirstLine: s.FirstLine, Lines: s.Lines,
					Bytes: s.Bytes, Typed: s.Typed, Asked: moment(s.Asked), Expires: moment(s.Expires),
				})
			}
			if unread != nil && len(out.Items) == 0 {
				return nil, unread // nothing was found, which is not that nothing is pending
			}
			out.Store = k.storeFault()
			return &body[wire.Approvals]{out}, nil
		})
	add(a, route{method: "GET", path: "/v1/approvals/{id}", id: "show-approval", summary: "An approval in full: what an answer is bound to", tag: tag, need: access.NeedApprove},
		func(_ context.Context, _ *access.Caller, in *approvalIn) (*body[wire.Document], error) {
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
			return &body[wire.Document]{out}, nil
		})
	add(a, route{method: "POST", path: "/v1/approvals/{id}/approve", id: "approve", summary: "Approve exactly what was shown", tag: tag, need: access.NeedApprove},
		func(ctx context.Context, c *access.Caller, in *yesIn) (*none, error) {
			_, err := once(ctx, k, c, in.Key, struct{ Approve, Digest string }{in.ID, in.Body.Digest}, func() (none, error) {
				return none{}, k.answer(c, in.ID, true, in.Body)
			})
			return nil, err
		})
	add(a, route{method: "POST", path: "/v1/approvals/{id}/reject", id: "reject", summary: "Say no", tag: tag, need: access.NeedApprove},
		func(_ context.Context, c *access.Caller, in *answerIn) (*none, error) {
			return nil, k.answer(c, in.ID, false, in.Body)
		})
}

// answer passes an answer on.
func (k *Keeper) answer(c *access.Caller, id string, approved bool, b wire.Answer) error {
	scope, err := scopeOf(b.ForSession)
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

// moment is nil for none.
func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

package boxes

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/events"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/params"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/realm"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/route"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/sandboxed"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/id"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/redact"
	"github.com/fairlead-ssh/fairlead/session/sandbox"
	"github.com/fairlead-ssh/fairlead/session/store"
)

// createCommand judges a command, and runs it, lets it wait, or rejects it.
func (bs *Boxes) createCommand(ctx context.Context, c *access.Caller, in *newCommandIn) (*commandOut, error) {
	engine, err := bs.Realms.Admit(c)
	if err != nil {
		return nil, err
	}
	limits, b, t := engine.Limits(c.Principal), &in.Body, bs.Runner
	wait, err := params.Seconds("wait_s", b.WaitS, route.DefaultWait, route.MaxWait)
	if err != nil {
		return nil, err
	}
	timeout, err := params.Seconds("timeout_s", b.TimeoutS, route.AgentTimeout, route.MaxTimeout)
	if err != nil {
		return nil, err
	}
	timeout = limits.Timeout(timeout)
	if redact.ContainsMark([]byte(b.Command)) {
		return nil, problem.Invalid("the command holds the mark of something redacted; the host would get the mark, not the secret")
	}
	key := store.Key{Principal: c.Principal, Key: in.Key, Request: params.JSON(askedFor(b))}
	if key.Key != "" {
		// A request that was made before has its answer, whatever has changed since.
		switch was, err := bs.Store.LookKey(ctx, key); {
		case err != nil:
			return nil, err
		case was.State == store.KeyConflict:
			return nil, problem.KeyUsed()
		case was.State == store.KeySame:
			return bs.tell(ctx, was.Target, wait)
		}
	}
	box, err := bs.Store.Sandbox(ctx, b.Sandbox)
	if err != nil || box.Owner != c.Principal {
		if err == nil || errors.Is(err, store.ErrNotFound) {
			err = problem.NotFound("sandbox", b.Sandbox)
		}
		return nil, err
	}
	if !box.Active {
		return nil, store.ErrInactive
	}
	h, err := bs.terminalHost(c, box.Host)
	if err != nil {
		return nil, err
	}
	r, done, err := bs.Realms.Of(c)
	if err != nil {
		return nil, err
	}
	defer done()
	set := bs.Secrets.With(b.Command)
	redacted := func(text string) string {
		text, _ = set.String(text, redact.Guarded)
		return text
	}
	n := store.NewCommand{Exact: []byte(b.Command), Command: store.Command{
		ID: id.New(events.CommandPrefix), Sandbox: box.ID, Host: h.Name, Command: redacted(b.Command), AskReason: redacted(b.Reason), RequestedBy: c.Principal, Token: c.Token,
	}, Key: key}
	d, held := policy.Decision{Rule: "sandbox/outside"}, sandbox.Enforcement{}
	dir, err := boxOf(box).Resolve(b.CWD)
	outside := errors.Is(err, sandbox.ErrOutside)
	switch {
	case err != nil && !outside:
		return nil, problem.Invalid("cwd: %v", err)
	case strings.ContainsFunc(b.Host, unicode.IsControl):
		return nil, problem.Invalid("host: it holds control characters")
	case outside:
		n.Cwd = redacted(b.CWD) // what is refused stays on record as it was asked
	default:
		n.Cwd = dir
	}
	switch {
	case b.Host != "" && b.Host != h.Name:
		n.Host, d.Reason = redacted(b.Host), "the sandbox is on another host"
	case outside:
		d.Reason = "the directory is outside the sandbox"
	case limits.Shell() != nil:
		d.Class, d.Rule, d.Reason = policy.Unknown, "policy/principals", problem.Of(limits.Shell()).Detail
	default:
		var why error
		d, held, why, err = bs.weigh(ctx, r, box, policy.Request{Principal: c.Principal, Host: h, Shell: h.Shell, Command: b.Command, Dir: dir, Reason: b.Reason})
		if err != nil {
			return nil, err
		}
		if why != nil {
			cmd, err := t.Fail(ctx, n, d, why)
			if err != nil {
				return nil, err
			}
			return &commandOut{http.StatusCreated, commandJSON(cmd)}, nil
		}
		n.Enforcement = string(held.Level)
	}
	n.Verdict, n.Class, n.Rule, n.Reason = d.Verdict.String(), string(d.Class), d.Rule, redacted(d.Reason)
	var cmd store.Command
	switch d.Verdict {
	case policy.Allow:
		cmd, err = t.Begin(ctx, n, timeout, held, nil)
	case policy.Ask:
		q := t.Question(n.Command, b.Command, h, d)
		q.Decision.Reason += "; in its sandbox it is held by: " + n.Enforcement // who approves weighs that too
		if a, ok := bs.Desk.ForSession(q); ok {
			n.Verdict, n.ApprovedBy, n.Proof = policy.Allow.String(), a.By, string(a.Proof)
			cmd, err = t.Begin(ctx, n, timeout, held, &sandboxed.Answered{Question: q, Answer: a, Way: r.Conn.Way(h)})
			break
		}
		cmd, err = t.Ask(ctx, n, q, timeout, r.Conn.Way(h))
	default:
		cmd, err = t.Deny(ctx, n, d)
	}
	if err != nil {
		return nil, err
	}
	return bs.tell(ctx, cmd.ID, wait)
}

// weigh decides about a command in a sandbox, under what holds it there. Where its host could not be asked, why says so,
// and the decision is the policy's alone.
func (bs *Boxes) weigh(ctx context.Context, r *realm.Realm, b store.Sandbox, req policy.Request) (d policy.Decision, e sandbox.Enforcement, why, err error) {
	// What the policy denies needs no host.
	if d, err = r.Judge.DecideCommand(ctx, req); err != nil || d.Verdict == policy.Deny {
		return d, e, nil, err
	}
	if e, why = bs.held(ctx, r, req.Host, boxOf(b), r.Look(req.Host), ""); why != nil {
		return d, e, why, ctx.Err()
	}
	guard, unreached, err := bs.guard(ctx, r, req.Host, b.ID, e.Level)
	if err != nil {
		return d, e, nil, err
	}
	in, err := guard.Decide(context.WithValue(ctx, aboutKey{}, req.Command), req)
	if why = unreached(); why != nil && in.Verdict == policy.Deny {
		return d, e, why, err
	}
	return in, e, nil, err
}

// askedFor is what of a request makes it another one: not how long its caller waits.
func askedFor(b *wire.NewCommand) wire.NewCommand {
	r := *b
	r.WaitS = nil
	return r
}

// tell answers a request for a command: at once while that waits for a person, else when it has ended or wait is over.
func (bs *Boxes) tell(ctx context.Context, id string, wait time.Duration) (*commandOut, error) {
	cmd, err := bs.Store.Command(ctx, id)
	if err == nil && cmd.Status == store.Approved {
		cmd, err = bs.Runner.Wait(ctx, id, wait)
	}
	if err != nil {
		return nil, err
	}
	out := &commandOut{http.StatusCreated, commandJSON(cmd)}
	if !cmd.Status.Ended() {
		out.Status = http.StatusAccepted
	}
	return out, nil
}

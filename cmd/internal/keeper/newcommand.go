package keeper

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/id"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/redact"
	"github.com/fairlead-ssh/fairlead/session/sandbox"
	"github.com/fairlead-ssh/fairlead/session/store"
)

// createCommand judges a command, and runs it, lets it wait, or rejects it.
func (k *Keeper) createCommand(ctx context.Context, c *access.Caller, in *newCommandIn) (*commandOut, error) {
	engine, err := k.admit(c)
	if err != nil {
		return nil, err
	}
	limits, b, t := engine.Limits(c.Principal), &in.Body, k.term
	if err := limits.Shell(); err != nil {
		return nil, err
	}
	wait, err := seconds("wait_s", b.WaitS, defaultWait, maxWait)
	if err != nil {
		return nil, err
	}
	timeout, err := seconds("timeout_s", b.TimeoutS, agentTimeout, maxTimeout)
	if err != nil {
		return nil, err
	}
	timeout = limits.Timeout(timeout)
	if redact.ContainsMark([]byte(b.Command)) {
		return nil, problem.Invalid("the command holds the mark of something redacted; the host would get the mark, not the secret")
	}
	key := store.Key{Principal: c.Principal, Key: in.Key, Request: resultJSON(askedFor(b))}
	if key.Key != "" {
		// A request that was made before has its answer, whatever has changed since.
		switch was, err := k.cfg.Store.LookKey(ctx, key); {
		case err != nil:
			return nil, err
		case was.State == store.KeyConflict:
			return nil, problem.KeyUsed()
		case was.State == store.KeySame:
			return t.tell(ctx, was.Target, wait)
		}
	}
	box, err := k.cfg.Store.Sandbox(ctx, b.Sandbox)
	if err != nil || box.Owner != c.Principal {
		if err == nil || errors.Is(err, store.ErrNotFound) {
			err = problem.NotFound("sandbox", b.Sandbox)
		}
		return nil, err
	}
	if !box.Active {
		return nil, store.ErrInactive
	}
	h, err := k.terminalHost(c, box.Host)
	if err != nil {
		return nil, err
	}
	r, done, err := k.realm(c)
	if err != nil {
		return nil, err
	}
	defer done()
	redacted := redactorOf(k.secrets.With(b.Command))
	n := store.NewCommand{Exact: []byte(b.Command), Command: store.Command{
		ID: id.New(commandPrefix), Sandbox: box.ID, Host: h.Name, Command: redacted(b.Command), AskReason: b.Reason, RequestedBy: c.Principal,
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
	default:
		var why error
		d, held, why, err = t.weigh(ctx, r, box, policy.Request{Principal: c.Principal, Host: h, Shell: h.Shell, Command: b.Command, Dir: dir, Reason: b.Reason})
		if err != nil {
			return nil, err
		}
		if why != nil {
			return t.fail(ctx, n, d, why)
		}
		n.Enforcement = string(held.Level)
	}
	n.Verdict, n.Class, n.Rule, n.Reason = d.Verdict.String(), string(d.Class), d.Rule, redacted(d.Reason)
	var cmd store.Command
	switch d.Verdict {
	case policy.Allow:
		cmd, err = t.begin(ctx, n, timeout, held, nil)
	case policy.Ask:
		q := t.questionOf(n.Command, b.Command, h, d)
		q.Decision.Reason += "; in its sandbox it is held by: " + n.Enforcement // who approves weighs that too
		if a, ok := k.desk.ForSession(q); ok {
			n.Verdict, n.ApprovedBy, n.Proof = policy.Allow.String(), a.By, string(a.Proof)
			cmd, err = t.begin(ctx, n, timeout, held, &answered{q, a, r.conn.way(h)})
			break
		}
		cmd, err = t.ask(ctx, n, q, timeout, r.conn.way(h))
	default:
		cmd, err = t.deny(ctx, n, d)
	}
	if err != nil {
		return nil, err
	}
	return t.tell(ctx, cmd.ID, wait)
}

// weigh decides about a command in a sandbox, under what holds it there. Where its host could not be asked, why says so,
// and the decision is the policy's alone.
func (t *terminal) weigh(ctx context.Context, r *realm, b store.Sandbox, req policy.Request) (d policy.Decision, e sandbox.Enforcement, why, err error) {
	// What the policy denies needs no host.
	if d, err = r.judge.decide(ctx, req); err != nil || d.Verdict == policy.Deny {
		return d, e, nil, err
	}
	if e, why = t.k.held(ctx, r, req.Host, boxOf(b), r.look(req.Host), ""); why != nil {
		return d, e, why, ctx.Err()
	}
	guard, unreached, err := t.guard(ctx, r, req.Host, b.ID, e.Level)
	if err != nil {
		return d, e, nil, err
	}
	in, err := guard.Decide(ctx, req)
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
func (t *terminal) tell(ctx context.Context, id string, wait time.Duration) (*commandOut, error) {
	cmd, err := t.store.Command(ctx, id)
	if err == nil && cmd.Status == store.Approved {
		cmd, err = t.wait(ctx, id, wait)
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

// begin keeps a command that is allowed, as this keeper's, and runs it.
func (t *terminal) begin(ctx context.Context, n store.NewCommand, timeout time.Duration, held sandbox.Enforcement, yes *answered) (store.Command, error) {
	n.Status, n.Claim = store.Approved, t.id
	f := t.take(n.ID, timeout)
	f.held = &held
	cmd, made, err := t.store.Create(ctx, n)
	if err != nil || !made {
		t.land(n.ID, f)
		return cmd, err
	}
	t.k.leaving.Go(func() {
		defer t.land(n.ID, f)
		t.run(t.k.base, cmd, string(n.Exact), f, yes)
	})
	return cmd, nil
}

// ask keeps a command that waits, and puts it to the desk. What cannot be recorded is not asked.
func (t *terminal) ask(ctx context.Context, n store.NewCommand, q policy.Question, timeout time.Duration, way string) (store.Command, error) {
	n.Status, n.Expires = store.Pending, t.k.now().Add(t.k.cfg.ApprovalTimeout).Truncate(time.Microsecond)
	q.Expires = n.Expires
	n.Document = approval.Pending{ID: n.ID, Question: q}.Document()
	if len(n.Document) > approval.MaxDocument {
		return store.Command{}, problem.Invalid("a command of %d bytes is more than a person can look through; split it", len(n.Exact))
	}
	if err := t.note(ctx, audit.ApprovalRequest, n.Command, string(n.Exact), q.Decision, ""); err != nil {
		return store.Command{}, problem.New(http.StatusInternalServerError, "audit", "%v, so no approval was requested", err)
	}
	f := t.take(n.ID, timeout)
	f.way = way
	cmd, made, err := t.store.Create(ctx, n)
	if err != nil || !made {
		t.land(n.ID, f)
		why := "it was asked before, as " + cmd.ID
		if err != nil {
			why = problem.Of(err).Detail
		}
		if err := t.noteUnanswered(ctx, n.Command, q.Decision, "canceled", why); err != nil {
			t.k.log.Printf("command %s: the audit log does not say that no approval was requested: %v", n.ID, err)
		}
		return cmd, err
	}
	t.k.asks(ctx)
	t.await(t.k.base, cmd, q, f)
	return t.store.Command(ctx, cmd.ID) // it is rejected where it could not be asked
}

// deny keeps a command that was rejected, and why.
func (t *terminal) deny(ctx context.Context, n store.NewCommand, d policy.Decision) (store.Command, error) {
	exact := string(n.Exact)
	n.Status, n.Outcome, n.Exact = store.Rejected, "denied", nil
	if d.Hint != "" {
		n.Reason += " (" + d.Hint + ")"
	}
	end := store.End{Outcome: n.Outcome, Reason: n.Reason}
	if err := t.noteNothing(ctx, n.Command, exact, d, policy.Answer{}, end); err != nil {
		return store.Command{}, problem.New(http.StatusInternalServerError, "audit", "%v", err)
	}
	cmd, made, err := t.store.Create(ctx, n)
	if err == nil && made {
		t.ended(cmd, "")
	}
	return cmd, err
}

// fail keeps a command that was never begun, since its host could not be asked about it.
func (t *terminal) fail(ctx context.Context, n store.NewCommand, d policy.Decision, why error) (*commandOut, error) {
	end := t.endAs(statusFor(why), why)
	if err := t.noteNothing(ctx, n.Command, string(n.Exact), d, policy.Answer{}, end); err != nil {
		return nil, problem.New(http.StatusInternalServerError, "audit", "%v", err)
	}
	n.Status, n.Claim, n.Exact, n.Verdict, n.Class, n.Rule = store.Approved, t.id, nil, d.Verdict.String(), string(d.Class), d.Rule
	f := t.take(n.ID, 0)
	defer t.land(n.ID, f)
	cmd, made, err := t.store.Create(ctx, n)
	if err == nil && made {
		if cmd, err = t.store.Finish(ctx, cmd.ID, t.id, end); err == nil {
			t.ended(cmd, "")
		}
	}
	if err != nil {
		return nil, err
	}
	return &commandOut{http.StatusCreated, commandJSON(cmd)}, nil
}

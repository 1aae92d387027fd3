package sandboxed

import (
	"context"
	"net/http"
	"time"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/sandbox"
	"github.com/fairlead-ssh/fairlead/session/store"
)

// Begin keeps a command that is allowed, as this keeper's, and runs it.
func (r *Runner) Begin(ctx context.Context, n store.NewCommand, timeout time.Duration, held sandbox.Enforcement, yes *Answered) (store.Command, error) {
	n.Status, n.Claim = store.Approved, r.cfg.ID
	f := r.take(n.ID, timeout)
	f.held = &held
	cmd, made, err := r.cfg.Store.Create(ctx, n)
	if err != nil || !made {
		r.land(n.ID, f)
		return cmd, err
	}
	r.cfg.Go(func() {
		defer r.land(n.ID, f)
		r.run(r.cfg.Base, cmd, string(n.Exact), f, yes)
	})
	return cmd, nil
}

// Ask keeps a command that waits, and puts it to the desk. What cannot be recorded is not asked.
func (r *Runner) Ask(ctx context.Context, n store.NewCommand, q policy.Question, timeout time.Duration, way string) (store.Command, error) {
	n.Status, n.Expires = store.Pending, r.cfg.Now().Add(r.cfg.ApprovalTimeout).Truncate(time.Microsecond)
	q.Expires = n.Expires
	n.Document = approval.Pending{ID: n.ID, Question: q}.Document()
	if len(n.Document) > approval.MaxDocument {
		return store.Command{}, problem.Invalid("a command of %d bytes is more than a person can look through; split it", len(n.Exact))
	}
	if err := r.note(ctx, audit.ApprovalRequest, n.Command, string(n.Exact), q.Decision, ""); err != nil {
		return store.Command{}, problem.New(http.StatusInternalServerError, "audit", "%v, so no approval was requested", err)
	}
	f := r.take(n.ID, timeout)
	f.way = way
	cmd, made, err := r.cfg.Store.Create(ctx, n)
	if err != nil || !made {
		r.land(n.ID, f)
		why := "it was asked before, as " + cmd.ID
		if err != nil {
			why = problem.Of(err).Detail
		}
		if err := r.noteUnanswered(ctx, n.Command, q.Decision, "canceled", why); err != nil {
			r.cfg.Log.Printf("command %s: the audit log does not say that no approval was requested: %v", n.ID, err)
		}
		return cmd, err
	}
	r.cfg.Asks(ctx)
	r.await(r.cfg.Base, cmd, q, f)
	return r.cfg.Store.Command(ctx, cmd.ID) // it is rejected where it could not be asked
}

// Deny keeps a command that was rejected, and why.
func (r *Runner) Deny(ctx context.Context, n store.NewCommand, d policy.Decision) (store.Command, error) {
	exact := string(n.Exact)
	n.Status, n.Outcome, n.Exact = store.Rejected, "denied", nil
	if d.Hint != "" {
		n.Reason += " (" + d.Hint + ")"
	}
	end := store.End{Outcome: n.Outcome, Reason: n.Reason}
	if err := r.noteNothing(ctx, n.Command, exact, d, policy.Answer{}, end); err != nil {
		return store.Command{}, problem.New(http.StatusInternalServerError, "audit", "%v", err)
	}
	cmd, made, err := r.cfg.Store.Create(ctx, n)
	if err == nil && made {
		r.cfg.Ended(cmd, "")
	}
	return cmd, err
}

// Fail keeps a command that was never begun, since its host could not be asked about it.
func (r *Runner) Fail(ctx context.Context, n store.NewCommand, d policy.Decision, why error) (store.Command, error) {
	end := r.endAs(statusFor(why), why)
	if err := r.noteNothing(ctx, n.Command, string(n.Exact), d, policy.Answer{}, end); err != nil {
		return store.Command{}, problem.New(http.StatusInternalServerError, "audit", "%v", err)
	}
	n.Status, n.Claim, n.Exact, n.Verdict, n.Class, n.Rule = store.Approved, r.cfg.ID, nil, d.Verdict.String(), string(d.Class), d.Rule
	f := r.take(n.ID, 0)
	defer r.land(n.ID, f)
	cmd, made, err := r.cfg.Store.Create(ctx, n)
	if err == nil && made {
		if cmd, err = r.cfg.Store.Finish(ctx, cmd.ID, r.cfg.ID, end); err == nil {
			r.cfg.Ended(cmd, "")
		}
	}
	return cmd, err
}

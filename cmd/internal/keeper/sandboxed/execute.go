package sandboxed

import (
	"context"
	"errors"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/registry"
	"github.com/fairlead-ssh/fairlead/session/store"
)

// run runs a command that this keeper has begun, and records its end.
func (r *Runner) run(ctx context.Context, c store.Command, exact string, f *flight, yes *Answered) {
	r.conclude(ctx, c, r.execute(ctx, c, exact, f, yes))
}

// conclude records the end of a command that this keeper has begun.
func (r *Runner) conclude(ctx context.Context, c store.Command, end store.End) {
	for said := false; ; said = true {
		err := r.finish(ctx, c.ID, end)
		if err == nil {
			return
		}
		if !said {
			r.cfg.Log.Printf("command %s: its end cannot be recorded: %v", c.ID, err)
		}
		if errors.Is(err, store.ErrNotClaimed) || errors.Is(err, store.ErrClosed) {
			return
		}
		// Until there is room on the disk again it is told as one that runs.
		again := time.NewTimer(finishEvery)
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return
		}
	}
}

// finishEvery is how often recording an end is tried.
const finishEvery = time.Second

func (r *Runner) finish(ctx context.Context, id string, end store.End) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), r.cfg.Grace)
	defer cancel()
	c, err := r.cfg.Store.Finish(ctx, id, r.cfg.ID, end)
	if err == nil {
		r.cfg.Ended(c, "")
	}
	return err
}

// RuleWrong is the rule of what may not run since its sandbox is not what it was.
const RuleWrong = "sandbox/wrong"

// execute runs a command in a new shell in its sandbox.
func (r *Runner) execute(ctx context.Context, c store.Command, exact string, f *flight, yes *Answered) store.End {
	// Without an answer there is nobody to ask: what asks now was allowed a moment ago.
	given := Answered{}
	if yes != nil {
		given = *yes
	}
	x, leave, err := r.launch(context.WithValue(ctx, answeredKey{}, given), c, exact, f)
	if err != nil {
		end := r.endAs(statusFor(err), err)
		d := policy.Decision{Verdict: policy.Allow, Class: policy.Class(c.Class), Rule: c.Rule}
		if end.Status == store.Rejected {
			if d.Verdict = policy.Deny; errors.Is(err, problem.ErrSandbox) {
				d.Rule = RuleWrong
			}
		}
		if err := r.noteNothing(ctx, c, exact, d, given.Answer, end); err != nil {
			r.cfg.Log.Printf("command %s: its failure is not in the audit log: %v", c.ID, err)
		}
		return end
	}
	defer leave()
	select {
	case <-x.Done():
	case <-ctx.Done():
		x.Stop()
	}
	return r.endOf(x)
}

// launch starts a command in a new shell in its sandbox. After an error there was no exec, and nothing of it is on record.
func (r *Runner) launch(ctx context.Context, c store.Command, exact string, f *flight) (x *registry.Exec, leave func(), err error) {
	at, done, err := r.cfg.Places.Find(c.RequestedBy, c.Host)
	if err != nil {
		return nil, nil, err
	}
	if err := unchanged(ctx, at); err != nil {
		done()
		return nil, nil, err
	}
	e, err := r.enter(ctx, at, c, f)
	if err != nil {
		done()
		return nil, nil, err
	}
	forget := at.Ours(e.ID())
	leave = func() {
		e.Close()
		forget()
		done()
	}
	if x, err = e.Start(ctx, commandFor(exact, c, f.timeout)); err != nil {
		leave()
		return nil, nil, err
	}
	return x, leave, nil
}

// enter opens a session for one command, and notes it in the record.
func (r *Runner) enter(ctx context.Context, at Place, c store.Command, f *flight) (*registry.Entry, error) {
	ctx, cancel := context.WithTimeout(ctx, r.cfg.Opening)
	defer cancel()
	e, err := at.Enter(ctx, c, f.held)
	if err != nil {
		return nil, err
	}
	if err := r.cfg.Store.Enter(ctx, c.ID, r.cfg.ID, e.ID(), e.Sandbox()); err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

// endAs is the end of a command that came to nothing because of err.
func (r *Runner) endAs(outcome string, err error) store.End {
	return store.End{Status: endStatus(outcome), Outcome: outcome, Reason: r.redacted(problem.Of(err).Detail)}
}

// endStatus is where a command stands that has this outcome, and was given no exit code.
func endStatus(outcome string) store.Status {
	if outcome == store.OutcomeDenied || outcome == store.OutcomeExpired {
		return store.Rejected
	}
	return store.Failed
}

// statusFor is the outcome of a command that never became one.
func statusFor(err error) string {
	if errors.Is(err, problem.ErrSandbox) || errors.Is(err, errVoid) {
		return "denied"
	}
	switch code := problem.CodeOf(err); code {
	case "unreachable", "auth", "hostkey", "timeout", "canceled", "denied":
		return code
	}
	return "error"
}

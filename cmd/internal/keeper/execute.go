package keeper

import (
	"context"
	"errors"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/registry"
	"github.com/fairlead-ssh/fairlead/session/store"
)

// run runs a command that this keeper has begun, and records its end.
func (t *terminal) run(ctx context.Context, c store.Command, exact string, f *flight, yes *answered) {
	t.conclude(ctx, c, t.execute(ctx, c, exact, f, yes))
}

// conclude records the end of a command that this keeper has begun.
func (t *terminal) conclude(ctx context.Context, c store.Command, end store.End) {
	for said := false; ; said = true {
		err := t.finish(ctx, c.ID, end)
		if err == nil {
			return
		}
		if !said {
			t.k.log.Printf("command %s: its end cannot be recorded: %v", c.ID, err)
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

func (t *terminal) finish(ctx context.Context, id string, end store.End) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), DefaultGrace)
	defer cancel()
	c, err := t.store.Finish(ctx, id, t.id, end)
	if err == nil {
		t.ended(c, "")
	}
	return err
}

// execute runs a command in a new shell in its sandbox.
func (t *terminal) execute(ctx context.Context, c store.Command, exact string, f *flight, yes *answered) store.End {
	// Without an answer there is nobody to ask: what asks now was allowed a moment ago.
	given := answered{}
	if yes != nil {
		given = *yes
	}
	x, leave, err := t.launch(context.WithValue(ctx, answeredKey{}, given), c, exact, f)
	if err != nil {
		end := t.endAs(statusFor(err), err)
		d := policy.Decision{Verdict: policy.Allow, Class: policy.Class(c.Class), Rule: c.Rule}
		if end.Status == store.Rejected {
			if d.Verdict = policy.Deny; errors.Is(err, problem.ErrSandbox) {
				d.Rule = ruleBox
			}
		}
		if err := t.noteNothing(ctx, c, exact, d, given.answer, end); err != nil {
			t.k.log.Printf("command %s: its failure is not in the audit log: %v", c.ID, err)
		}
		return end
	}
	defer leave()
	select {
	case <-x.Done():
	case <-ctx.Done():
		x.Stop()
	}
	return t.endOf(x)
}

// launch starts a command in a new shell in its sandbox. After an error there was no exec, and nothing of it is on record.
func (t *terminal) launch(ctx context.Context, c store.Command, exact string, f *flight) (x *registry.Exec, leave func(), err error) {
	who := &access.Caller{Principal: c.RequestedBy, Inventory: t.k.cfg.Inventory}
	r, done, err := t.k.realm(who)
	if err != nil {
		return nil, nil, err
	}
	h, err := t.k.terminalHost(who, c.Host)
	if err != nil {
		done()
		return nil, nil, err
	}
	if err := unchanged(ctx, r, h); err != nil {
		done()
		return nil, nil, err
	}
	e, err := t.enter(ctx, r, h, c, f)
	if err != nil {
		done()
		return nil, nil, err
	}
	r.commands.Store(e.ID(), nil)
	leave = func() {
		e.Close()
		r.commands.Delete(e.ID())
		done()
	}
	if x, err = e.Start(ctx, commandFor(exact, c, f.timeout)); err != nil {
		leave()
		return nil, nil, err
	}
	return x, leave, nil
}

// endAs is the end of a command that came to nothing because of err.
func (t *terminal) endAs(outcome string, err error) store.End {
	return store.End{Status: endStatus(outcome), Outcome: outcome, Reason: t.redacted(problem.Of(err).Detail)}
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

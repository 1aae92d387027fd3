package runs

import (
	"context"
	"net/http"
	"sync"

	"github.com/fairlead-ssh/fairlead/cmd/internal/censor"
	consents "github.com/fairlead-ssh/fairlead/cmd/internal/consent"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/livepolicy"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/route"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/redact"
	"github.com/fairlead-ssh/fairlead/session/registry"
	"github.com/fairlead-ssh/fairlead/session/rollout"
)

// steps are how a run on many hosts is rolled out.
type steps struct {
	plan rollout.Plan
	ask  *asking // nil where nothing is confirmed
}

func (s *steps) question() *asking {
	if s == nil {
		return nil
	}
	return s.ask
}

// plan reads how the run is rolled out, and judges what verifies it, which must need no answer: it runs later and unasked.
func (x *fleet) plan(ctx context.Context, judge consents.Judge) error {
	in := x.in.Rollout
	if in == nil {
		return nil
	}
	canary, err := x.r.Named(in.Canary)
	if err != nil {
		return err
	}
	plan, err := in.Plan(targets.Among(canary))
	if err != nil {
		return problem.Invalid("rollout: %v", err)
	}
	if _, err := plan.Split(x.hosts); err != nil {
		return problem.Invalid("rollout: %v", err)
	}
	if in.Verify != "" {
		judge.Words, judge.Scripts, judge.Yes, judge.Glass, judge.Approvable, judge.Partial = nil, nil, false, false, false, false
		v, err := judge.Decide(ctx, in.Verify, x.hosts)
		if err != nil {
			return err
		}
		for _, h := range x.hosts {
			if no := v.Refusal(h); no != nil {
				return problem.New(http.StatusForbidden, "denied", "verify must be a command that the policy allows without a question: %s", no.Reason)
			}
		}
		plan.Verify.Keep, plan.Verify.Reason = x.cmd.Keep, x.cmd.Reason
		plan.Verify.Timeout, plan.Verify.Idle = x.cmd.Timeout, x.cmd.Idle
		if plan.Verify.Keep < 0 {
			plan.Verify.Keep = session.DefaultKeep
		}
	}
	x.steps = &steps{plan: plan}
	if in.Confirm {
		x.steps.ask = &asking{}
	}
	return nil
}

// each runs the command on all hosts and tells each Result. Hosts on which it is refused are no part of a rollout.
func (x *fleet) each(ctx context.Context, no livepolicy.Refusal, cmd session.Command, tell func(hosts.Host, session.Result)) *wire.RunReport {
	refused, rest := []hosts.Host(nil), x.hosts
	if x.steps != nil {
		refused, rest = targets.Divide(x.hosts, func(h hosts.Host) bool { return no != nil && no(h) != nil })
	}
	if x.steps == nil || len(rest) == 0 {
		refused = x.hosts
	}
	for h, r := range x.r.Pool.Each(ctx, refused, cmd) {
		tell(h, r)
	}
	if x.steps == nil || len(rest) == 0 {
		return nil
	}
	plan, label := x.steps.plan, x.label
	batches, _ := plan.Split(rest)
	plan.Begin = func(b rollout.Batch) { x.output.send("batch", wire.BatchOf(b, len(batches), label)) }
	plan.Result = tell
	if plan.Verify != nil {
		verify := *plan.Verify
		var many *censor.Many
		if !x.r.Operator || x.in.Redact {
			many, verify = censor.NewMany(x.rs.Secrets, redact.Guarded, verify)
		}
		plan.Verify = &verify
		plan.Verified = func(h hosts.Host, r session.Result) {
			var taken redact.Counts
			if many != nil {
				r, taken = many.Result(h, r)
			}
			x.book.End(x.label(h), r, true)
			x.output.send("verified", wire.RunResult{Host: x.at[targets.KeyOf(h)], RunEnd: endOf(&r, r.Redacted), Taken: taken.Kinds})
		}
	}
	if ask := x.steps.ask; ask != nil {
		plan.Confirm = func(ctx context.Context, so rollout.Report) error {
			return ask.wait(ctx, so.Done, func() { x.output.send("confirm", wire.ReportOf(so, label)) })
		}
	}
	report, err := plan.Run(ctx, x.r.Pool, rest, cmd)
	if err != nil { // all canaries are among the refused
		canaries, _ := targets.Divide(refused, plan.Canary)
		so := wire.WithoutCanary(canaries, rest, label)
		for _, h := range rest {
			tell(h, rollout.NotRun(h, cmd, so.Why))
		}
		return &so
	}
	out := wire.ReportOf(report, label)
	return &out
}

// label is what a host is called in this run.
func (x *fleet) label(h hosts.Host) string { return x.labels[x.at[targets.KeyOf(h)]] }

// asking is the question whether the next batch may begin.
type asking struct {
	mu     sync.Mutex // guards what follows
	done   int
	answer chan bool // nil while nothing is asked
}

// wait asks, and waits for the answer as long as ctx lasts.
func (a *asking) wait(ctx context.Context, done int, ask func()) error {
	answer := make(chan bool, 1)
	a.mu.Lock()
	a.done, a.answer = done, answer
	a.mu.Unlock()
	defer func() {
		a.mu.Lock()
		a.answer = nil
		a.mu.Unlock()
	}()
	ask()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case yes := <-answer:
		if !yes {
			return rollout.ErrDeclined
		}
		return nil
	}
}

// reply answers, and reports whether just this was asked.
func (a *asking) reply(in wire.RunConfirm) bool {
	if a == nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.answer == nil || a.done != in.Done {
		return false
	}
	a.answer <- in.GoOn
	a.answer = nil
	return true
}

type confirmRunIn struct {
	ID   string `path:"id" maxLength:"80" doc:"of a run of one's own"`
	Body wire.RunConfirm
}

func (rs *Runs) addConfirm(a *route.API) {
	route.Add(a, route.Route{Method: "POST", Path: Path + "/{id}/confirm", ID: "confirm-run", Tag: "runs", Need: access.NeedRun, Status: http.StatusAccepted,
		Summary: "Let the next batch of a rollout begin, or end the run, once the event “confirm” asks"},
		func(_ context.Context, c *access.Caller, in *confirmRunIn) (*route.None, error) {
			g, ok := rs.open.find(c.Principal, in.ID)
			switch {
			case !ok:
				return nil, problem.NotFound("run", in.ID)
			case !g.asking.reply(in.Body):
				return nil, problem.New(http.StatusConflict, registry.CodeConflict, "the run %.80q does not wait for this answer", in.ID)
			}
			return nil, nil
		})
}

package place

import (
	"context"
	"errors"
	"slices"

	"github.com/fairlead-ssh/fairlead/cmd/internal/censor"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/redact"
	"github.com/fairlead-ssh/fairlead/session/rollout"
)

// Steps is how a run is rolled out, and what watches it. All functions are called from one goroutine, as what takes Results.
type Steps struct {
	Rollout wire.Rollout          // its Canary is left out
	Canary  func(hosts.Host) bool // nil means that there are none
	Label   func(hosts.Host) string

	Batch    func(wire.RunBatch)
	Verified func(HostEnd)
	Confirm  func(ctx context.Context, so wire.RunReport) bool
	Ended    func(wire.RunReport)
}

// plan is the plan of a run from here.
func (s *Steps) plan() (rollout.Plan, error) {
	in := s.Rollout
	if s.Canary != nil {
		in.Canary = []string{"all that Canary reports"}
	}
	return in.Plan(s.Canary)
}

// Batches divides hosts as a run would.
func (s *Steps) Batches(hs []hosts.Host) ([]rollout.Batch, error) {
	plan, err := s.plan()
	if err != nil {
		return nil, err
	}
	return plan.Split(hs)
}

// run rolls a command out from here.
func (s *Steps) run(ctx context.Context, on rollout.Runner, hs []hosts.Host, cmd session.Command, here *Here, done func(hosts.Host, session.Result)) error {
	plan, err := s.plan()
	if err != nil {
		return err
	}
	batches, err := plan.Split(hs)
	if err != nil {
		return err
	}
	plan.Begin = func(b rollout.Batch) { s.Batch(wire.BatchOf(b, len(batches), s.Label)) }
	plan.Result = done
	if plan.Verify != nil {
		verify := *plan.Verify
		verify.Reason, verify.Timeout, verify.Idle = cmd.Reason, cmd.Timeout, cmd.Idle
		var many *censor.Many
		if here.Redact {
			many, verify = censor.NewMany(here.Secrets, redact.Guarded, verify)
		}
		plan.Verify = &verify
		plan.Verified = func(h hosts.Host, r session.Result) {
			e := HostEnd{Host: h, Result: r}
			if many != nil {
				e.Result, e.Taken = many.Result(h, r)
			}
			s.Verified(e)
		}
	}
	if s.Rollout.Confirm {
		plan.Confirm = func(ctx context.Context, so rollout.Report) error {
			if !s.Confirm(ctx, wire.ReportOf(so, s.Label)) {
				return rollout.ErrDeclined
			}
			return nil
		}
	}
	report, err := plan.Run(ctx, on, hs, cmd)
	if err == nil {
		s.Ended(wire.ReportOf(report, s.Label))
	}
	return err
}

// lacks reports whether a canary was asked for and hs has none.
func (s *Steps) lacks(hs []hosts.Host) bool {
	return s != nil && s.Canary != nil && !slices.ContainsFunc(hs, s.Canary)
}

// without ends a run whose canaries are all among the refused hosts. rest gets nothing.
func (s *Steps) without(refused, rest []hosts.Host, cmd session.Command, done func(HostEnd)) {
	canaries, _ := targets.Divide(refused, s.Canary)
	so := wire.WithoutCanary(canaries, rest, s.Label)
	for _, h := range rest {
		done(HostEnd{Host: h, Result: rollout.NotRun(h, cmd, so.Why)})
	}
	s.Ended(so)
}

// Request is how it is rolled out on hosts, as the keeper gets it.
func (s *Steps) Request(hs []hosts.Host) *wire.Rollout {
	in := s.Rollout
	if s.Canary != nil {
		in.Canary = []string{} // also where none is left: nil is a run without a canary
		for _, h := range hs {
			if s.Canary(h) {
				in.Canary = append(in.Canary, targets.Asked(h))
			}
		}
	}
	return &in
}

// there watches a rollout in the keeper.
func (s *Steps) there(ctx context.Context, hs []hosts.Host) client.Steps {
	return client.Steps{
		Batch: func(b *wire.RunBatch) { s.Batch(*b) },
		Verified: func(i int, w *wire.RunResult) error {
			if i < 0 || i >= len(hs) {
				return errors.New("client: the keeper reports a host that is not part of the run")
			}
			r, err := w.Result.Result()
			if err != nil {
				return err
			}
			s.Verified(HostEnd{hs[i], Because(ctx, r), redact.Counts{Kinds: w.Taken}})
			return nil
		},
		Confirm: func(ctx context.Context, so *wire.RunReport) bool { return s.Confirm(ctx, *so) },
	}
}

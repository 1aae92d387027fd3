package mcpserver

import (
	"context"
	"fmt"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	outcomes "github.com/fairlead-ssh/fairlead/cmd/internal/outcome"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/registry"
	"github.com/fairlead-ssh/fairlead/session/rollout"
)

// rolloutArgs is the argument rollout. Its fields mean what they mean in the API.
type rolloutArgs struct {
	Batches      []string `json:"batches,omitempty" jsonschema:"sizes in hosts or percent, as 1, 10%, 100%; the last repeats"`
	Canary       *string  `json:"canary,omitempty" jsonschema:"selector: the first batch"`
	MaxFail      string   `json:"max_fail,omitempty" jsonschema:"stop once more of all hosts failed: 0, 10%"`
	BatchMaxFail string   `json:"batch_max_fail,omitempty" jsonschema:"the same, of one batch"`
	Verify       string   `json:"verify,omitempty" jsonschema:"shell source run after each batch where command succeeded; must need no approval"`
	DeadlineS    *float64 `json:"deadline_s,omitempty" jsonschema:"of the whole run"`
	Retry        int      `json:"retry,omitempty" jsonschema:"connection attempts more; a command is never sent again"`
}

// plan reads how a run goes in steps, and judges what verifies it. It is nil where the run goes at once.
func (s *Server) plan(ctx context.Context, in *rolloutArgs, hs []hosts.Host, cmd registry.Command, dir string) (*rollout.Plan, error) {
	if in == nil {
		return nil, nil
	}
	var canary []hosts.Host
	w := wire.Rollout{
		Batches: in.Batches, MaxFail: in.MaxFail, BatchMaxFail: in.BatchMaxFail, Verify: in.Verify, DeadlineS: in.DeadlineS, Retry: in.Retry,
	}
	if in.Canary != nil { // also where it is empty: that is a mistake, and not a run without a canary
		var err error
		if canary, err = s.selectHosts(*in.Canary); err != nil {
			return nil, invalid("rollout: canary: %w", err)
		}
		w.Canary = targets.Labels(canary)
	}
	if in.Retry < 0 || in.Retry > wire.MaxRetry {
		return nil, invalid("rollout: retry must be between 0 and %d", wire.MaxRetry)
	}
	p, err := w.Plan(func(h hosts.Host) bool {
		for _, c := range canary {
			if c.Name == h.Name {
				return true
			}
		}
		return false
	})
	if err == nil {
		_, err = p.Split(hs)
	}
	if err != nil {
		return nil, invalid("rollout: %w", err)
	}
	if p.Verify != nil {
		if err := s.cfg.Limits().Shell(); err != nil {
			return nil, err
		}
		verify := registry.Command{Script: in.Verify, Reason: cmd.Reason}
		if refused, why, err := s.judgeAll(ctx, hs, verify, dir); err != nil {
			return nil, err
		} else if len(refused) > 0 {
			return nil, denied("verify must be a command that the policy allows without approval. On %s: %s", refused[0].Name, why.decision.Reason)
		}
	}
	return &p, nil
}

// statusVerify is the status of hosts where the command succeeded, and what verifies it did not.
const statusVerify = "verify_failed"

// verifyFault says why a host failed after its command had succeeded; nil where it did not.
func verifyFault(r *session.Result) *faultOut {
	if r == nil || r.Status == session.StatusOK || r.Status == session.StatusCanceled {
		return nil
	}
	what, why := outcomes.Describe(*r)
	if why != "" {
		what += ": " + why
	}
	f := &faultOut{Code: statusVerify, Message: what}
	if r.Exec != "" {
		f.Exec, f.Next = r.Exec, "session_output with exec_id "+r.Exec+" shows what verify printed"
	}
	return f
}

// rolloutOut is what has happened in a rollout that has ended.
type rolloutOut struct {
	Batches int    `json:"batches"`
	Done    int    `json:"done"`
	Stopped string `json:"stopped,omitempty"` // what stopped it, as in the API
	Why     string `json:"why,omitempty"`     // the same in words
	NotRun  string `json:"notrun,omitempty"`  // hosts that got nothing
}

func rolledOut(f *registry.Fleet) *rolloutOut {
	r := f.Rollout()
	if r == nil {
		return nil
	}
	out := &rolloutOut{Batches: len(r.Batches), Done: r.Done, Stopped: string(r.Reason), Why: r.Why}
	if hs := r.NotRun(); len(hs) > 0 {
		out.NotRun = hosts.Fold(targets.Labels(hs))
	}
	return out
}

func (o *rolloutOut) text() string {
	if o == nil {
		return ""
	}
	text := fmt.Sprintf("%d of %d batches done", o.Done, o.Batches)
	if o.Stopped != "" {
		text += fmt.Sprintf("; stopped by %s: %s", o.Stopped, o.Why)
	}
	if o.NotRun != "" {
		text += "; not run: " + o.NotRun
	}
	return text
}

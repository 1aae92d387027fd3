package mcp

import (
	"context"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

// gate is what an agent may do.
type gate struct {
	policy.Decider
	limits func() rules.Limits
	admit  func(now time.Time) error
	anyEnv func(h hosts.Host) bool
	least  func(req policy.Request) policy.Proof // nil means that of the decision
}

// gateOf is the gate of policy files and the built-in policy.
func gateOf(principal string, e *rules.Engine) gate {
	return gate{
		Decider: e,
		limits:  func() rules.Limits { return e.Limits(principal) },
		admit:   func(now time.Time) error { return e.Admit(principal, now) },
		anyEnv:  func(h hosts.Host) bool { return e.Allows(principal, h, policy.Unknown) },
		least:   e.LeastProof,
	}
}

// allowAll is the gate of --allow-all: whatever the operator may do, but for Fairlead's own files and programs, which e keeps
// from every agent. What only reads is still told, for the record.
func allowAll(e *rules.Engine) gate {
	return gate{
		Decider: policy.DeciderFunc(func(ctx context.Context, req policy.Request) (policy.Decision, error) {
			d, err := e.Decide(ctx, req)
			if err != nil || d.Rule == rules.OwnRule || req.Input == "" && e.Judge(req).OwnAsks {
				return d, err
			}
			return policy.AllowAll.Decide(ctx, req)
		}),
		limits: func() rules.Limits { return rules.Limits{} },
		admit:  func(time.Time) error { return nil },
		anyEnv: func(hosts.Host) bool { return true },
	}
}

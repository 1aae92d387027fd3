package mcp

import (
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
}

// gateOf is the gate of policy files and the built-in policy.
func gateOf(principal string, e *rules.Engine) gate {
	return gate{
		Decider: e,
		limits:  func() rules.Limits { return e.Limits(principal) },
		admit:   func(now time.Time) error { return e.Admit(principal, now) },
		anyEnv:  func(h hosts.Host) bool { return e.Allows(principal, h, policy.Unknown) },
	}
}

// allowAll is the gate of --allow-all: whatever the operator may do. What only reads is still told, for the record.
func allowAll() gate {
	return gate{
		Decider: policy.AllowAll,
		limits:  func() rules.Limits { return rules.Limits{} },
		admit:   func(time.Time) error { return nil },
		anyEnv:  func(hosts.Host) bool { return true },
	}
}

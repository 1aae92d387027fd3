package run

import (
	"context"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

// judgeAhead judges a run for an engine to remember, whatever comes of it: Decide asks the same again.
func (o *Options) judgeAhead(ctx context.Context, engine func() (*rules.Engine, error), hs []hosts.Host) {
	if e, err := engine(); err == nil {
		_, _, _ = e.JudgeMany(ctx, o.requests(hs))
	}
}

// requests are what the policy is asked about the command on hs.
func (o *Options) requests(hs []hosts.Host) []policy.Request {
	reqs := make([]policy.Request, len(hs))
	for i, h := range hs {
		reqs[i] = policy.Request{Principal: o.Caller().Principal, Host: h, Shell: h.Shell, Command: o.scriptOn(h), Reason: o.Reason, Elsewhere: len(o.Words) > 0}
	}
	return reqs
}

package rules

import (
	"context"
	"fmt"

	"github.com/fairlead-ssh/fairlead/session/policy"
)

// JudgeMany decides requests that are one: the same command on many hosts. It returns a decision for each, in order,
// and the strictest of them, which is the one for all. Where the request is wider than the principal's MaxHosts the
// strictest is at least an ask. No requests are denied. Its error is that of ctx.
func (e *Engine) JudgeMany(ctx context.Context, reqs []policy.Request) ([]policy.Decision, policy.Decision, error) {
	if len(reqs) == 0 {
		return nil, policy.Decision{Rule: "builtin/nothing", Reason: "there is nothing to decide"}, nil
	}
	all := make([]policy.Decision, len(reqs))
	strictest := 0
	most, names := map[string]int{}, map[[2]string]bool{}
	for i, req := range reqs {
		d, err := e.Decide(ctx, req)
		if err != nil {
			return nil, policy.Decision{}, err
		}
		all[i] = d
		if best := all[strictest]; harder(d.Verdict, d.Needs, best.Verdict, best.Needs) {
			strictest = i
		}
		if key := [2]string{req.Principal, req.Host.Name}; !names[key] {
			names[key] = true
			most[req.Principal]++
		}
	}
	out := all[strictest]
	for principal, n := range most {
		limit := e.Limits(principal).MaxHosts
		if limit == 0 || n <= limit {
			continue
		}
		wide := policy.Decision{
			Verdict: policy.Ask, Class: out.Class, Rule: "builtin/max-hosts",
			Reason: fmt.Sprintf("%d hosts are more than the %d that may be asked for at once", n, limit),
		}
		wide.Needs, wide.Hint = needsOf(RoleOf(principal), policy.Ask, out.Class)
		if out.Verdict == policy.Allow {
			out = wide
		}
		out.First = nil // to be tried on so many is what takes approval
	}
	if takesApproval(out) { // one for all of them
		least := make([]policy.Proof, len(reqs))
		for i, req := range reqs {
			least[i] = e.LeastProof(req)
		}
		out.LeastProof = policy.Strictest(least...)
	}
	return all, out, nil
}

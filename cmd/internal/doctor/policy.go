package doctor

import (
	"context"
	"os"
	"slices"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

// settings reads config.yaml.
func (o *Options) settings(context.Context) []Check {
	if _, err := o.Config(); err != nil {
		return each(err, func(err error) Check {
			return fail("settings", "mend that: no command runs until then", "%s", why(err))
		})
	}
	return []Check{ok("settings", "they are understood")}
}

// policy reads the policy, and looks whether those are there whom it wants to ask.
func (o *Options) policy(ctx context.Context) []Check {
	engine, err := o.Policy("")
	if err != nil {
		return each(err, func(err error) Check { return fail("policy", "mend that: no command runs until then", "%s", why(err)) })
	}
	from := "the built-in one"
	files := []string{rules.SystemFile}
	if own, err := o.PolicyFile(); err == nil {
		files = append(files, own)
	}
	for _, f := range files {
		if _, err := os.Stat(f); err == nil {
			from += ", changed by " + f
		}
	}
	return []Check{ok("policy", "%s", from), o.approvers(ctx, engine)}
}

// approvers looks whether somebody can approve what agents ask for.
func (o *Options) approvers(ctx context.Context, engine *rules.Engine) Check {
	all, err := o.Approvers()
	if err != nil {
		return fail("approvers", "correct the file: no approval is possible until then", "%s", why(err))
	}
	if len(all) > 0 {
		return ok("approvers", "%s enrolled", cmdutil.Count(len(all), "key"))
	}
	var wanting []string
	for _, tier := range o.tiers() {
		for _, command := range []string{"touch /srv/x", "rm -r /srv/x"} { // a write, and what is dangerous
			d, err := engine.Decide(ctx, policy.Request{Principal: "agent/doctor", Host: hosts.Host{Name: "doctor", Tier: tier}, Command: command, Shell: "sh"})
			if err == nil && d.Verdict == policy.Ask && d.LeastProof != "" && d.LeastProof != policy.Unproven && !slices.Contains(wanting, tier) {
				wanting = append(wanting, tier)
			}
		}
	}
	if len(wanting) > 0 {
		return fail("approvers", "fairlead approvals enroll --new", "the policy requires signatures on hosts of tier %s, and no keys are enrolled: no request of an agent can be approved there", wanting)
	}
	return ok("approvers", "no keys are enrolled: an approval at the terminal needs no signature, so it does not prove that a person gave it (fairlead approvals enroll --new)")
}

// tiers are those that policies name most, and those of the inventory.
func (o *Options) tiers() []string {
	all := []string{hosts.Prod, "staging", "dev"}
	inv, err := o.Inventory()
	if err != nil {
		return all
	}
	for h := range inv.All() {
		if t := h.TierName(); !slices.Contains(all, t) && len(all) < maxTold {
			all = append(all, t)
		}
	}
	return all
}

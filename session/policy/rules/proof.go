package rules

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/strictyaml"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// proofs are the least proofs that a file asks for, by tier and class; "*" is any of them.
type proofs map[string]map[policy.Class]policy.Proof

// least returns what a file asks for; "" is nothing. What names the tier counts before "*", and within a tier what names the
// class before "*".
func (p proofs) least(tier string, c policy.Class) policy.Proof {
	for _, t := range [...]string{tier, "*"} {
		for _, k := range [...]policy.Class{c, "*"} {
			if least, said := p[t][k]; said {
				return least
			}
		}
	}
	return ""
}

// leastProof is the least proof that an approval of these classes takes: the strongest that any of them asks for. "" leaves
// it to whoever is asked, who knows whether somebody is enrolled.
func (e *Engine) leastProof(h hosts.Host, classes []policy.Class) policy.Proof {
	if len(classes) == 0 {
		return ""
	}
	out := policy.Unproven
	for _, c := range classes {
		if c == policy.ReadOnly && len(classes) > 1 {
			continue // beside what changes something it counts for nothing
		}
		var least policy.Proof
		for _, l := range e.layers {
			own := l.file.proofs.least(h.TierName(), c)
			switch {
			case own == "":
			case l.tighten:
				least = policy.Strictest(least, own)
			default:
				least = own
			}
		}
		out = policy.Strictest(out, least)
	}
	return out
}

// LeastProof returns the least proof that an approval of a request's command takes, also where the request alone needs none. One
// approval of several takes the [policy.Strictest] of theirs.
func (e *Engine) LeastProof(req policy.Request) policy.Proof {
	return e.leastProof(req.Host, asOther(e.judged(req), req.Host.Become).rep.Classes)
}

// withProof adds the least proof to a decision that an approval may turn into an allow.
func (e *Engine) withProof(d policy.Decision, h hosts.Host, classes []policy.Class) policy.Decision {
	if takesApproval(d) {
		d.LeastProof = e.leastProof(h, classes)
	}
	return d
}

// takesApproval reports whether an approval may turn a decision into an allow.
func takesApproval(d policy.Decision) bool {
	return d.Verdict == policy.Ask && (d.Needs == "" || d.Needs == policy.NeedsApproval)
}

// approvals reads what a file says about approvals.
func (p *problems) approvals(n *yaml.Node) (proofs, []namedTier) {
	f := p.Fields(n, "approvals", "proof")
	if f == nil {
		return nil, nil
	}
	v := f["proof"]
	if v == nil {
		p.Add(n.Line, "approvals: needs proof")
		return nil, nil
	}
	if v.Kind != yaml.MappingNode || len(v.Content) == 0 {
		p.Add(v.Line, "proof: expected a mapping of tiers, as in {prod: passphrase}")
		return nil, nil
	}
	out := proofs{}
	var tiers []namedTier
	for pair := range slices.Chunk(v.Content, 2) {
		k, val := pair[0], pair[1]
		switch err := hosts.CheckTier(k.Value); {
		case k.Value == "*":
		case !recordName(k.Value):
			p.Add(k.Line, `proof: %q is not a tier such as prod, nor "*"`, k.Value)
		case err != nil:
			p.Add(k.Line, "proof: %v", err)
		case k.Value == "unknown":
			p.Add(k.Line, "proof: hosts without a tier count as prod: write prod")
		}
		out[k.Value] = p.proofsOf(k.Value, val)
		tiers = append(tiers, namedTier{name: k.Value, line: k.Line})
	}
	return out, tiers
}

// namedTier is a tier and the line that names it.
type namedTier struct {
	name string
	line int
}

// proofsOf reads one proof for all classes, or a mapping by class.
func (p *problems) proofsOf(tier string, n *yaml.Node) map[policy.Class]policy.Proof {
	if n.Kind != yaml.MappingNode {
		return map[policy.Class]policy.Proof{"*": p.proof(n)}
	}
	out := map[policy.Class]policy.Proof{}
	if len(n.Content) == 0 {
		p.Add(n.Line, "proof: the mapping of %s is empty; leave the tier out", strictyaml.Clip(tier))
	}
	for pair := range slices.Chunk(n.Content, 2) {
		k := pair[0]
		if c := policy.Class(k.Value); c != "*" && !slices.Contains(policy.Classes[:], c) {
			p.Add(k.Line, `proof: %q is not one of %s, nor "*"`, strictyaml.Clip(k.Value), classNames())
		}
		out[policy.Class(k.Value)] = p.proof(pair[1])
	}
	return out
}

func (p *problems) proof(n *yaml.Node) policy.Proof {
	s, ok := p.Scalar(n, "proof")
	if ok && !policy.Proof(s).Known() {
		p.Add(n.Line, "proof: %q is not one of touch, passphrase, unproven", strictyaml.Clip(s))
	}
	return policy.Proof(s)
}

package rules

import (
	"strings"
	"sync"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/held"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

// HeldFirstRule names what is decided about an unknown command that was tried held to reading, and to which nothing was refused.
const HeldFirstRule = "builtin/held-first"

// What Limits.Unknown says.
const (
	UnknownAsks      = "ask"
	UnknownHeldFirst = "held-first"
)

// heldFirst says how a command is tried before somebody is asked about it; nil where it is not. Nothing but the built-in table's word
// about unknown commands may stand against it: no rule, and no other class.
func (e *Engine) heldFirst(req policy.Request, j *judged, d policy.Decision) *policy.First {
	rep := &j.rep
	if e.known || d.Verdict != policy.Ask || d.Needs != policy.NeedsApproval || d.Class != policy.Unknown || d.Rests != "" ||
		rep.Capped || rep.OwnAsks || req.Interactive || req.Action || !e.wantsHeldFirst(req) {
		return nil
	}
	known := *e
	known.known = true
	if r := known.rule(req, j); r.verdict != policy.Allow {
		return nil
	}
	if _, why, _, _ := fitness(j.command()); why != "" {
		return nil
	}
	return &policy.First{Closed: closed(), Shapes: rep.Hidden || len(rep.Sets) > 0 || strings.HasPrefix(rep.Rule, "builtins/") || findPart(rep.Parts, ofAShell) != nil}
}

// ofAShell finds commands of shells themselves, of which nobody can tell what they do to the shell.
func ofAShell(p *judge.Part) bool {
	return p.Class == policy.Unknown && strings.HasPrefix(p.Rule, "builtins/")
}

// wantsHeldFirst reports whether the policy has unknown commands tried first.
func (e *Engine) wantsHeldFirst(req policy.Request) bool {
	switch e.Limits(req.Principal).Unknown {
	case UnknownHeldFirst:
		return true
	case UnknownAsks:
		return false
	}
	return RoleOf(req.Principal) == Agent && req.Host.TierName() != hosts.Prod
}

// closed are the places that the judge calls secret.
var closed = sync.OnceValue(func() (all []string) {
	for _, s := range judge.Secrets() {
		all = append(all, held.Closed(s.Patterns, s.Except))
	}
	return all
})

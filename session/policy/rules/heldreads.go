package rules

import (
	"fmt"
	"path"
	"slices"

	"github.com/fairlead-ssh/fairlead/session/held"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// HeldRule names what is decided about reads that a policy wants held and that cannot be.
const HeldRule = "builtin/reads-held"

const heldReason = "the policy allows reads that the host's kernel holds"

// heldReads is d with how it runs where the principal's reads are to be held. Where a policy requires that, what only reads runs held,
// or is decided as Unheld says; where no policy says how an agent's reads run, it is held where the host can, and else runs as judged
// (but not beside what is free to shape the session's shell, which such reads are to see).
// What would not tell the truth held runs as it is judged; where holding is required alone, since beside it nothing else may go
// without being held.
func (e *Engine) heldReads(req policy.Request, j *judged, d policy.Decision) policy.Decision {
	required := e.wantsHeld(req.Principal)
	if d.Verdict != policy.Allow || !required && !(d.Clean && e.prefersHeld(req.Principal)) {
		return d
	}
	switch d.Class {
	case policy.ReadOnly, policy.SensitiveRead:
	case policy.NetworkRead:
		d.Unfit = "it asks over the network"
		return d
	default:
		return d
	}
	name, why, sockets, mixed := fitness(j.command())
	d.Sockets = sockets
	fits := why == "" || sockets != nil && mixed
	if d.Hold = fits && !required; d.Hold {
		return d
	}
	if !fits && !(required && mixed) {
		d.Unfit = fmt.Sprintf("%s: %s", name, why)
		return d
	}
	not := d
	not.Verdict, not.Rule, not.Reason = policy.Ask, HeldRule, heldReason
	not.Needs, not.Hint = policy.NeedsApproval, hintApproval
	not = e.withProof(not, req.Host, j.rep.Classes)
	if fits {
		d.Unheld = &not
		return d
	}
	not.Reason = fmt.Sprintf("%s; %s does not fit there (%s), and the rest would not be held either: run %[2]s by itself", heldReason, name, why)
	return not
}

// prefersHeld reports whether no policy says how the reads of an agent run; a file that can only tighten cannot free them.
func (e *Engine) prefersHeld(principal string) bool {
	role := RoleOf(principal)
	if role != Agent {
		return false
	}
	for _, l := range e.layers {
		for _, en := range l.file.principals {
			if en.reads && !l.tighten && en.who.match(role, principal) {
				return false
			}
		}
	}
	return true
}

// wantsHeld reports whether the policy holds the reads of a principal.
func (e *Engine) wantsHeld(principal string) bool {
	for _, l := range e.layers {
		for _, en := range l.file.principals {
			if en.reads {
				return e.Limits(principal).HeldReads
			}
		}
	}
	return false
}

// fitness names a program of a command that would not tell the truth held, and says why. mixed says that there are others, which
// would, and do more than pass on what it prints. Where all of them would with some local sockets, it returns these.
func fitness(c *command) (name, why string, sockets []string, mixed bool) {
	if why := held.UnfitSource(c.src); why != "" {
		return "/proc", why, nil, false
	}
	others, never := false, false
	for _, s := range c.all() {
		if len(s.words) == 0 || !s.words[0].literal {
			continue
		}
		program := path.Base(s.words[0].text)
		var args []string
		for _, w := range s.words[1:] {
			args = append(args, w.text)
		}
		switch no := held.Unfit(program, args); {
		case no != "":
			open := held.Sockets(program, args)
			if sockets = append(sockets, open...); !never {
				name, why, never = program, no, len(open) == 0
			}
		case !held.Neutral(program):
			others = true
		}
	}
	if slices.Sort(sockets); never {
		sockets = nil
	}
	return name, why, slices.Compact(sockets), why != "" && others
}

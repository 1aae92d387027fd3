package rules

import (
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// Role is what a principal is.
type Role string

// The roles. Whoever has none of them is an Agent.
const (
	Agent    Role = hosts.RoleAgent
	Operator Role = hosts.RoleOperator
	Program  Role = hosts.RoleProgram
)

// RoleOf returns the role in a principal's name: what stands before the slash.
func RoleOf(principal string) Role { return Role(hosts.RoleOf(principal)) }

// cell is one decided field of the table: a verdict and what it rests on.
type cell struct {
	verdict policy.Verdict
	needs   policy.Needs
	rule    string
	reason  string // "" leaves it to the judge
	hint    string
}

// What would make a command pass, where something simple would.
const (
	hintApproval = "an operator can approve it, or a rule can allow it"
	hintOwn      = "an operator can run it"
	hintBecome   = "an operator can run it, or approve it where become: in the inventory says so of the host"
	hintTier     = "the host has no tier, which counts as prod: set tier: in the inventory, or answer with --yes"
	hintYes      = "answer with --yes"
	hintBreak    = "type the name of the host and a reason at the terminal; --yes does not answer"
	hintOperator = "an operator can run it; agents never"
	hintNoRule   = "a rule can allow it"
	hintRule     = "the owner of the policy file must change the rule"
	hintCRLF     = `Fairlead sends CRLF as LF, within quotes too: write printf '\r\n' where the CR is meant`
	hintBytes    = "write it without that character"
)

// builtin is the table in the package's comment.
func (e *Engine) builtin(role Role, h hosts.Host, c policy.Class) cell {
	out := cell{verdict: policy.Deny, rule: builtinRule(c)}
	if e.known && c == policy.Unknown {
		out.verdict = policy.Allow
		return out
	}
	switch role {
	case Operator:
		operatorCell(&out, h, c)
	case Program:
		out.rule, out.verdict = "builtin/program", e.program
		if out.verdict != policy.Allow {
			out.hint = hintNoRule
		}
		if out.verdict == policy.Ask {
			out.needs = policy.NeedsApproval
		}
	default:
		agentCell(&out, h, c)
	}
	return out
}

func agentCell(out *cell, h hosts.Host, c policy.Class) {
	switch {
	case c == policy.ReadOnly:
		out.verdict = policy.Allow
		return
	case c == policy.Forbidden:
		out.hint = hintOperator
		return
	case c == policy.Privileged && h.Become.ByCall:
		out.hint = hintBecome
		return
	case c == policy.Privileged && h.Become.User == "":
		out.hint = hintOwn
		return
	}
	out.verdict, out.needs, out.hint = policy.Ask, policy.NeedsApproval, hintApproval
}

func operatorCell(out *cell, h hosts.Host, c policy.Class) {
	switch {
	case c == policy.Forbidden:
		out.verdict, out.needs, out.hint = policy.Ask, policy.NeedsBreakGlass, hintBreak
	case c == policy.Dangerous && h.TierName() == hosts.Prod:
		out.verdict, out.needs, out.hint = policy.Ask, policy.NeedsConfirmation, hintYes
		if h.Tier == "" {
			out.hint = hintTier
		}
	default:
		out.verdict = policy.Allow
	}
}

// builtinRule names the cell of a class; what is no class counts as unknown.
func builtinRule(c policy.Class) string { return "builtin/" + string(policy.Classes[c.Rank()]) }

// needsOf says whose yes an ask of a file waits for. An operator's is a second thought: an approval would be another's.
func needsOf(role Role, v policy.Verdict, c policy.Class) (policy.Needs, string) {
	switch {
	case v == policy.Allow:
		return "", ""
	case v == policy.Deny:
		return "", hintRule
	case role != Operator:
		return policy.NeedsApproval, "an operator can approve it"
	case c == policy.Forbidden:
		return policy.NeedsBreakGlass, hintBreak
	}
	return policy.NeedsConfirmation, hintYes
}

// stricter returns the stricter of two cells; of equals the one whose yes is harder to get, then the first.
func stricter(a, b cell) cell {
	if harder(b.verdict, b.needs, a.verdict, a.needs) {
		return b
	}
	return a
}

// harder reports whether one outcome is stricter than the other.
func harder(v policy.Verdict, n policy.Needs, other policy.Verdict, than policy.Needs) bool {
	return v < other || v == other && v == policy.Ask && weight(n) > weight(than)
}

func weight(n policy.Needs) int {
	switch n {
	case policy.NeedsConfirmation:
		return 0
	case policy.NeedsBreakGlass:
		return 2
	}
	return 1
}

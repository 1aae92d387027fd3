package rules

import (
	"slices"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// asOther returns what is found out about a command that runs as another account than the one that logs in: it takes that
// account's rights, whatever it does with them.
func asOther(j *judged, b hosts.Become) *judged {
	if b.User == "" {
		return j
	}
	out := &judged{rep: j.rep, command: j.command}
	rep := &out.rep
	if !slices.Contains(rep.Classes, policy.Privileged) {
		i, _ := slices.BinarySearchFunc(rep.Classes, policy.Privileged, func(a, b policy.Class) int { return a.Rank() - b.Rank() })
		rep.Classes = slices.Insert(slices.Clone(rep.Classes), i, policy.Privileged)
	}
	if policy.Privileged.Worse(rep.Class) {
		rep.Class, rep.Rule, rep.Reason = policy.Privileged, "become/"+b.Program(), "it runs as "+b.User+", by "+b.Program()
	}
	return out
}

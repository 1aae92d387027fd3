package rules

import (
	"errors"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
)

// CheckNames reports rules and principals whose hosts: names hosts, groups, labels or tiers that inv does not have, and proofs for such
// tiers: they are for nobody, which whoever wrote them did not mean. Each is a [*FileError] with its line, and all are joined as by
// [ReadFile]. tiers are known whether or not a host has them.
func (f *File) CheckNames(inv *hosts.Inventory, tiers ...string) error {
	var found []error
	add := func(line int, what, missing string) {
		found = append(found, &FileError{Pos: hosts.Pos{File: f.Name, Line: line}, Msg: what + ": the inventory has " + missing})
	}
	check := func(line int, what string, sel hosts.Selector) {
		if err := inv.CheckLabels(sel, tiers...); err != nil {
			add(line, what, strings.TrimPrefix(err.Error(), "hosts: "))
		}
	}
	for _, r := range f.rules {
		check(r.pos.Line, "rule "+r.name, r.hosts)
	}
	for _, e := range f.principals {
		check(e.line, "principals", e.hosts)
	}
	for _, t := range f.proofTiers {
		if t.name != "*" && !inv.HasTier(t.name) && !slices.Contains(tiers, t.name) {
			add(t.line, "proof", "no host of the tier "+t.name)
		}
	}
	return errors.Join(found...)
}

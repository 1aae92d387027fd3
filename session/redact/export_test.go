package redact

import (
	"slices"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// Kinds returns the kinds of all rules.
func Kinds() []string {
	out := []string{"password", "token", "api-key"} // which valueRules tell apart by the name
	for _, r := range allRules() {
		if r.kind != "mark" {
			out = append(out, r.kind)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Built returns how many states of automata s has built, ever, and how many it has now, in how many automata.
func Built(s *Set) (ever int64, now, automata int) {
	for _, a := range s.now.Load().all.autos {
		now += len(a.label)
	}
	return s.built.Load(), now, len(s.now.Load().all.autos)
}

// Drop forgets everything, so that what it took can be measured.
func (s *Set) Drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.runs = nil
	s.init()
}

// Owners counts of whom something is known.
func Owners(s *Set) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.owners)
}

// Expressions are those of all rules.
func Expressions() (all []*lazyregexp.Regexp) {
	for _, r := range allRules() {
		all = append(all, r.re)
		if r.end != nil && r.end.re != nil {
			all = append(all, r.end.re)
		}
	}
	return all
}

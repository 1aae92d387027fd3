package judge

import (
	"strings"

	"github.com/fairlead-ssh/fairlead/session/policy"
)

// pathEntry is one pattern of paths. "**" stands for any number of directories.
type pathEntry struct {
	segs      []string
	anchored  bool     // begins at the root
	except    []string // last segments that are not meant after all
	class     policy.Class
	rule, why string
}

// pathTable finds the entries that a path matches. The first that matches counts, so the worst stand first.
type pathTable struct {
	all    []pathEntry
	byName map[string][]int // by their last segment without wildcards
	byLast map[string][]int // anchored ones by their last segment, when it has no wildcards
	rest   []int            // entries without such a segment
}

func (t *pathTable) add(class policy.Class, rule, why, except, paths string) {
	if t.byName == nil {
		t.byName, t.byLast = make(map[string][]int), make(map[string][]int)
	}
	for p := range strings.FieldsSeq(paths) {
		i := len(t.all)
		segs := segments(p)
		t.all = append(t.all, pathEntry{segs, p[0] == '/', strings.Fields(except), class, rule, why})
		key := ""
		for _, s := range segs {
			if !isWild(s) && s != "" {
				key = s
			}
		}
		if key == "" {
			t.rest = append(t.rest, i)
		} else {
			t.byName[key] = append(t.byName[key], i)
		}
		if last := segs[len(segs)-1]; p[0] == '/' && !isWild(last) {
			t.byLast[last] = append(t.byLast[last], i)
		}
	}
}

func isWild(s string) bool { return strings.ContainsAny(s, "*?[") }

// find returns the first entry that a path matches, or that a pattern may reach.
func (t *pathTable) find(segs []string, pattern bool) *pathEntry {
	if len(segs) == 0 {
		return nil
	}
	best := len(t.all)
	try := func(list []int) {
		for _, i := range list {
			if i >= best {
				return
			}
			if t.all[i].matches(segs, pattern) {
				best = i
			}
		}
	}
	if pattern {
		for i := range t.all {
			if t.all[i].matches(segs, true) {
				return &t.all[i]
			}
		}
		return nil
	}
	for _, s := range segs {
		try(t.byName[s])
	}
	try(t.byLast[segs[len(segs)-1]])
	try(t.rest)
	if best == len(t.all) {
		return nil
	}
	return &t.all[best]
}

func (e *pathEntry) matches(segs []string, pattern bool) bool {
	// A relative path with nobody knowing where it starts may be the end of an absolute one.
	if !reaches(segs, e.segs, pattern) && !(e.anchored && segs[0] != "" && suffixOf(segs, e.segs, pattern)) {
		return false
	}
	last := segs[len(segs)-1]
	if !isWild(last) {
		for _, x := range e.except {
			if matchGlob(x, last) {
				return false
			}
		}
	}
	return true
}

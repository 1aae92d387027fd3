package hosts

import (
	"regexp"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts/wildcard"
)

// expr is one node of a selector. Nodes never change after parsing.
type expr interface {
	match(h *Host) bool
	prec() int      // how tightly it binds: a union least, an atom most
	String() string // canonical, without parentheses around the whole
}

const (
	precUnion = iota
	precInter
	precNot
	precAtom
)

// in renders e as an operand of something that binds as tightly as prec.
func in(e expr, prec int) string {
	if e.prec() < prec {
		return "(" + e.String() + ")"
	}
	return e.String()
}

type allExpr struct{}

func (allExpr) match(*Host) bool { return true }
func (allExpr) prec() int        { return precAtom }
func (allExpr) String() string   { return "all" }

// nameExpr is a name or a range: exactly these hosts.
type nameExpr struct {
	pat   pattern
	names []string
	set   map[string]struct{} // nil for a single name
}

func (e *nameExpr) match(h *Host) bool {
	if e.set == nil {
		return h.Name == e.names[0]
	}
	_, ok := e.set[h.Name]
	return ok
}
func (*nameExpr) prec() int        { return precAtom }
func (e *nameExpr) String() string { return e.pat.String() }

// globExpr matches names against * and ?; ranges in it were expanded to several globs.
type globExpr struct {
	pat   pattern
	globs []string
}

func (e *globExpr) match(h *Host) bool {
	return slices.ContainsFunc(e.globs, func(g string) bool { return wildcard.MatchText(h.Name, g) })
}
func (*globExpr) prec() int        { return precAtom }
func (e *globExpr) String() string { return e.pat.String() }

// regexExpr looks for a regular expression anywhere in the name.
type regexExpr struct {
	src string
	re  *regexp.Regexp
}

func (e *regexExpr) match(h *Host) bool { return e.re.MatchString(h.Name) }
func (*regexExpr) prec() int            { return precAtom }
func (e *regexExpr) String() string {
	if n, err := regexEnd(e.src); err == nil && n == len(e.src) && e.src[0] != '"' {
		return "~" + e.src
	}
	return "~" + quoteRegex(e.src)
}

type groupExpr struct{ name string }

func (e *groupExpr) match(h *Host) bool { return slices.Contains(h.Groups, e.name) }
func (*groupExpr) prec() int            { return precAtom }
func (e *groupExpr) String() string     { return "@" + e.name }

// labelExpr tests one label, or the tier.
type labelExpr struct {
	key, value string
	glob       bool // value has * or ? to be taken as such
	not        bool
}

func (e *labelExpr) match(h *Host) bool {
	v, ok := h.label(e.key)
	if ok && e.glob {
		ok = wildcard.MatchText(v, e.value)
	} else {
		ok = ok && v == e.value
	}
	return ok != e.not
}
func (*labelExpr) prec() int { return precAtom }
func (e *labelExpr) String() string {
	op, value := "=", e.value
	if e.not {
		op = "!="
	}
	if value == "" || value[0] == '=' || strings.ContainsFunc(value, func(r rune) bool { return !valueRune(r) }) ||
		!e.glob && strings.ContainsAny(value, "*?") {
		value = quoteValue(value)
	}
	return e.key + op + value
}

// label returns the value of a label; the tier is one that every host has.
func (h *Host) label(key string) (string, bool) {
	if key == "tier" {
		return h.TierName(), true
	}
	v, ok := h.Labels[key]
	return v, ok
}

type notExpr struct{ x expr }

func (e *notExpr) match(h *Host) bool { return !e.x.match(h) }
func (*notExpr) prec() int            { return precNot }
func (e *notExpr) String() string     { return "!" + in(e.x, precNot) }

type interExpr struct{ xs []expr }

func (e *interExpr) match(h *Host) bool {
	return !slices.ContainsFunc(e.xs, func(x expr) bool { return !x.match(h) })
}
func (*interExpr) prec() int        { return precInter }
func (e *interExpr) String() string { return joinExprs(e.xs, "&", precNot) }

// unionExpr picks what one of pos picks and none of neg.
type unionExpr struct {
	pos, neg []expr
	names    map[string]struct{} // the names in pos, so that a long list costs no more than a short one
	rest     []expr              // pos without names
}

func newUnion(pos, neg []expr) *unionExpr {
	u := &unionExpr{pos: pos, neg: neg, names: map[string]struct{}{}}
	for _, e := range pos {
		if n, ok := e.(*nameExpr); ok {
			for _, name := range n.names {
				u.names[name] = struct{}{}
			}
			continue
		}
		u.rest = append(u.rest, e)
	}
	return u
}

func (e *unionExpr) match(h *Host) bool {
	matches := func(x expr) bool { return x.match(h) }
	if _, ok := e.names[h.Name]; !ok && !slices.ContainsFunc(e.rest, matches) {
		return false
	}
	return !slices.ContainsFunc(e.neg, matches)
}
func (*unionExpr) prec() int { return precUnion }
func (e *unionExpr) String() string {
	out := joinExprs(e.pos, ",", precInter)
	for _, x := range e.neg {
		out += ",!" + in(x, precNot)
	}
	return out
}

func joinExprs(xs []expr, op string, prec int) string {
	parts := make([]string, len(xs))
	for i, x := range xs {
		parts[i] = in(x, prec)
	}
	return strings.Join(parts, op)
}

// walk calls f for e and everything in it.
func walk(e expr, f func(expr)) {
	f(e)
	switch e := e.(type) {
	case *notExpr:
		walk(e.x, f)
	case *interExpr:
		for _, x := range e.xs {
			walk(x, f)
		}
	case *unionExpr:
		for _, x := range e.pos {
			walk(x, f)
		}
		for _, x := range e.neg {
			walk(x, f)
		}
	}
}

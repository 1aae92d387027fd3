package programs

import (
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/session/policy"
)

// Row is what the tables say of one program or subcommand, for those who list or prove them.
type Row struct {
	Name    string // with its subcommand: "git log"
	Options []Option
	Read    bool   // its words are read by code or by forms, so that Options says little
	Alone   string // words that make it a read where they are the only one
	Sub     []Row
}

// Option is one option of a [Row].
type Option struct {
	Names    []string // with their dashes; "-#" is any number
	Value    string   // kind of its value, "" for none
	Optional bool     // the value is glued or absent
	Class    policy.Class
}

// Rows lists all that the tables know, by name.
func Rows() []Row {
	all := make([]Row, 0, len(index().programs))
	for name, e := range index().programs {
		if !isBuiltin(name) {
			all = append(all, e.get().row())
		}
	}
	slices.SortFunc(all, func(a, b Row) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func (n *node) row() Row {
	r := Row{Name: n.name, Read: n.style&words != 0 || len(n.checks) > 0}
	named := make([][]string, len(n.opts))
	for b, at := range n.short {
		if at != 0 {
			named[at-1] = append(named[at-1], "-"+string(rune(b)))
		}
	}
	for _, l := range n.long {
		named[l.at-1] = append(named[l.at-1], l.name)
	}
	for i, o := range n.opts {
		if len(named[i]) > 0 { // else a subcommand's own option hides it
			slices.Sort(named[i])
			r.Options = append(r.Options, Option{Names: slices.Compact(named[i]), Value: o.kind.String(), Optional: o.optional, Class: plainClass(o.class)})
		}
	}
	for _, f := range n.forms {
		if f.class == read && len(f.tokens) == 1 && !f.tokens[0].optional {
			r.Alone = strings.TrimSpace(r.Alone + " " + strings.Join(f.tokens[0].any, " "))
		}
	}
	for _, s := range n.subs {
		r.Sub = append(r.Sub, s.get().row())
	}
	slices.SortFunc(r.Sub, func(a, b Row) int { return strings.Compare(a.Name, b.Name) })
	return r
}

// plainClass leaves out what only tables tell apart.
func plainClass(c policy.Class) policy.Class {
	switch c {
	case installing:
		return forbid
	case endless:
		return unknown
	case recode:
		return read
	}
	return c
}

func (k kind) String() string {
	for name, v := range kinds {
		if v == k {
			return name
		}
	}
	return ""
}

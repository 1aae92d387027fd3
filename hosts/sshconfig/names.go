package sshconfig

import (
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts/wildcard"
)

// Names returns the names that Host lines give without wildcards, each once, with the line where it stands first, in the
// order of reading. A name in a file that is included inside a block counts where that block applies to it: for a Host
// block that is known here, and no Match block is taken to apply.
func (c *Config) Names() []Value[string] {
	n := namer{seen: map[string]bool{}}
	for _, f := range c.files {
		n.file(f, nil)
	}
	return n.names
}

// namer collects names.
type namer struct {
	names []Value[string]
	seen  map[string]bool
}

// file collects those of one file and what it includes, as far as all blocks around it apply to them.
func (n *namer) file(f *file, around []func(string) bool) {
	here := around
	for i := range f.lines {
		switch l := &f.lines[i]; l.key {
		case "host":
			n.host(l, around)
			here = append(around[:len(around):len(around)], l.names)
		case "match":
			all := len(l.args) == 1 && lower(l.args[0]) == "all"
			here = append(around[:len(around):len(around)], func(string) bool { return all })
		case "include":
			for _, in := range l.incl {
				n.file(in, here)
			}
		}
	}
}

func (n *namer) host(l *line, around []func(string) bool) {
	for _, name := range l.args {
		if name == "" || strings.ContainsAny(name, "*?!") || n.seen[name] || !l.names(name) {
			continue
		}
		applies := true
		for _, ok := range around {
			applies = applies && ok(name)
		}
		if applies {
			n.seen[name] = true
			n.names = append(n.names, Value[string]{V: name, Raw: name, From: l.pos})
		}
	}
}

// names reports whether a Host line applies to name.
func (l *line) names(name string) bool {
	matched := false
	for _, pat := range l.args {
		pat, negated := strings.CutPrefix(pat, "!")
		if wildcard.Match(name, pat) {
			if negated {
				return false
			}
			matched = true
		}
	}
	return matched
}

package sshconfig

import (
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
)

// Named is a host that a Host line names in full, without * or ?.
type Named struct {
	Name string
	Pos  hosts.Pos
}

// Named returns the hosts that the files name in full, in the order of the files and each once. Names that a line excludes
// are none.
func (c *Config) Named() []Named {
	var out []Named
	seen := map[string]bool{}
	var visit func(f *file)
	visit = func(f *file) {
		for _, l := range f.lines {
			for _, in := range l.incl {
				visit(in)
			}
			if l.key != "host" {
				continue
			}
			for _, arg := range l.args {
				if arg != "" && !strings.ContainsAny(arg, "*?!") && !seen[arg] {
					seen[arg] = true
					out = append(out, Named{arg, l.pos})
				}
			}
		}
	}
	for _, f := range c.files {
		visit(f)
	}
	return out
}

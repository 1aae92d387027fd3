package rules

import (
	"slices"

	"github.com/fairlead-ssh/fairlead/hosts/strictyaml"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// check holds a rule against its examples. Their hosts and principals are taken as matching, and they run below the
// first of its paths: "touch x" is about a file there.
func (p *problems) check(r *rule, examples []example) {
	dir := ""
	if len(r.paths) > 0 {
		dir = r.paths[0].base()
	}
	for _, e := range examples {
		c := judgeKey(key{script: e.command, dir: dir}).command()
		matched := r.matches(c)
		switch {
		case e.match && !matched:
			p.Add(e.line, "rule %q: the example %q does not match: %s", r.name, strictyaml.Clip(e.command), r.why(c))
		case !e.match && matched:
			p.Add(e.line, "rule %q: the example %q is of class %s and matches, but must not", r.name, strictyaml.Clip(e.command), c.rep.Class)
		}
	}
}

// matches reports whether the rule by itself gives its verdict to a command: an allow must stand for all of it, the
// others for anything in it.
func (r *rule) matches(c *command) bool {
	if _, refused := refusedBytes(c.rep); refused {
		return false
	}
	all := true
	for i := range c.units {
		for _, k := range c.units[i].classes {
			all = all && r.covers(c, &c.units[i], k)
		}
	}
	return all || r.verdict != policy.Allow && r.touches(c) == yes
}

// why says which condition keeps the rule from standing for a command.
func (r *rule) why(c *command) string {
	for i := range c.units {
		u := &c.units[i]
		for _, k := range u.classes {
			switch {
			case r.covers(c, u, k):
			case len(r.classes) > 0 && !slices.Contains(r.classes, k) && len(r.programs) == 0:
				return "it is " + string(k) + ", which is none of its classes"
			case len(r.programs) > 0 && u.words == nil && !r.coversClass(k):
				return "programs are matched on simple commands, without assignments and redirects to files"
			case grave(k) && !slices.Contains(r.classes, k) && slices.ContainsFunc(r.programs, func(p pattern) bool { return p.covers(u.words) }):
				return "it is " + string(k) + ", which such a rule covers only if classes name it"
			case len(r.programs) > 0 && !r.coversProgram(u, k) && !r.coversClass(k):
				if len(r.classes) > 0 {
					return "it is none of its programs, and " + string(k) + " is none of its classes"
				}
				return "it is none of its programs"
			case !r.coversProgram(u, k) && !r.coversClass(k):
				return "it is " + string(k) + ", which such a rule covers only if classes name it, and paths alone never for unknown"
			default:
				return "it does not write below its paths alone"
			}
		}
	}
	return "it cannot be judged"
}

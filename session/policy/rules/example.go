package rules

import (
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
			p.Add(e.line, "rule %q: the example %q (class %s) matches, but not_match says that it must not", r.name, strictyaml.Clip(e.command), c.rep.Class)
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
			case len(r.programs) > 0 && u.words == nil:
				return "programs match simple commands only, without assignments and redirects to files"
			case r.led(u) != "":
				return "it has " + r.led(u) + ", " + notLed
			case !r.coversProgram(u):
				return "it is not one of the rule's programs"
			case len(r.classes) > 0 && !r.coversClass(u, k):
				return "it is " + string(u.classes[0]) + ", which is not one of the rule's classes"
			case !r.coversClass(u, k):
				return "it is " + string(k) + ", which the rule covers only if classes name it"
			case !r.coversAddresses(c, u, k):
				return r.whyAddresses(c)
			case k == policy.Unknown && len(r.programs) == 0:
				return "it is unknown, and paths say too little about unknown programs"
			case u.within.Worse(policy.NetworkRead) && len(r.programs) == 0:
				return "it runs another command, and paths say too little about such ones"
			default:
				return "it writes outside the rule's paths, or names no file that it writes"
			}
		}
	}
	return "it cannot be judged"
}

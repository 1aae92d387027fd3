package rules

import (
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

// check holds a rule against its examples. Their hosts and principals are taken as matching.
func (p *problems) check(r *rule, examples []example) {
	for _, e := range examples {
		req := policy.Request{Command: e.command}
		rep := judge.Judge(judge.Request{Script: e.command})
		matched := r.matches(newCommand(req, &rep))
		switch {
		case e.match && !matched:
			p.add(e.line, "rule %q: the example %q is of class %s and does not match", r.name, clip(e.command), rep.Class)
		case !e.match && matched:
			p.add(e.line, "rule %q: the example %q is of class %s and matches, but must not", r.name, clip(e.command), rep.Class)
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

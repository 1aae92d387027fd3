package rules

import (
	"slices"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/judge"
)

// rule is one rule of a file.
type rule struct {
	name       string
	pos        hosts.Pos
	hosts      hosts.Selector
	principals principals
	classes    []policy.Class
	programs   []pattern
	paths      []pathPattern
	verdict    policy.Verdict
	reason     string
}

// principals are whom a rule is for.
type principals struct {
	all   bool
	roles []Role
	names []string
}

func (p principals) match(role Role, name string) bool {
	return p.all || slices.Contains(p.roles, role) || slices.Contains(p.names, name)
}

// covers reports whether the rule surely stands for a class of a unit. That is what it takes to allow. Classes and
// programs each pick what the rule is for; paths bound what that may write.
func (r *rule) covers(c *command, u *unit, class policy.Class) bool {
	program := r.coversProgram(u, class)
	if !program && !r.coversClass(class) {
		return false
	}
	switch {
	case len(r.paths) == 0:
		return true
	case program && len(c.rep.Writes) == 0 && !c.rep.Capped:
		return true // it is named, and writes no file that could be elsewhere
	case slices.Contains(r.classes, class) && (class == policy.ReadOnly || class == policy.SensitiveRead):
		return true // of this part nothing is written
	}
	return r.coversWrites(c, u, program)
}

func (r *rule) coversProgram(u *unit, class policy.Class) bool {
	return slices.ContainsFunc(r.programs, func(p pattern) bool {
		return p.covers(u.words) && (!p.rest || !grave(class))
	})
}

func (r *rule) coversClass(class policy.Class) bool {
	switch {
	case len(r.classes) > 0 && !slices.Contains(r.classes, class):
		return false
	case len(r.classes) == 0 && len(r.programs) > 0:
		return false
	case len(r.paths) == 0:
		return true
	}
	// Paths alone say nothing about what nobody understands, and little about the rest.
	return class != policy.Unknown && (len(r.classes) > 0 || !grave(class) && class != policy.SensitiveRead)
}

func grave(c policy.Class) bool { return c == policy.Privileged || c == policy.Forbidden }

// coversWrites reports whether the unit is about files, and every file that the command writes matches.
func (r *rule) coversWrites(c *command, u *unit, program bool) bool {
	w := c.rep.Writes
	if len(w) == 0 || len(w) >= mostPaths || c.rep.Capped || u.core == "" {
		return false
	}
	for _, p := range w {
		abs, known := absolute(p)
		if !known || p.Remote || !slices.ContainsFunc(r.paths, func(pp pathPattern) bool { return pp.covers(abs) }) {
			return false
		}
	}
	// A redirect into a good place must not vouch for the program: by itself it changes nothing, or names its files too.
	core := judge.Judge(judge.Request{Script: u.core, Shell: c.shell, Interactive: c.typed})
	if u.out && core.Class == policy.ReadOnly {
		return true
	}
	return len(core.Writes) > 0 && (program || plainWriter(u.args))
}

// mostPaths is fewer than the judge ever reports: at so many there may be more.
const mostPaths = 256

// touches says whether the rule applies to anything in the command, or may. That is what it takes to deny and to ask.
func (r *rule) touches(c *command) match {
	m := yes
	if len(r.classes)+len(r.programs) > 0 {
		m = no
		if slices.ContainsFunc(r.classes, func(k policy.Class) bool { return slices.Contains(c.rep.Classes, k) }) {
			m = yes
		}
		m = max(m, r.touchesPrograms(c))
	}
	if len(r.paths) > 0 {
		m = min(m, r.touchesWrites(c.rep))
	}
	return m
}

func (r *rule) touchesWrites(rep *judge.Report) match {
	m := no
	if rep.Capped || len(rep.Writes) >= mostPaths {
		m = maybe
	}
	for _, w := range rep.Writes {
		for _, p := range r.paths {
			m = max(m, p.touches(w))
		}
	}
	return m
}

func (r *rule) touchesPrograms(c *command) match {
	m := no
	if c.rep.Capped {
		m = maybe
	}
	for _, s := range c.all() {
		for _, p := range r.programs {
			m = max(m, p.touches(s.words, s.torn))
		}
	}
	return m
}

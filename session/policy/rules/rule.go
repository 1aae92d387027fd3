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
	to         []addressPattern
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

// covers reports whether the rule surely stands for a class of a unit. That is what it takes to allow. The fields narrow:
// all that are given must hold.
func (r *rule) covers(c *command, u *unit, class policy.Class) bool {
	if !r.coversClass(u, class) || !r.coversProgram(u) {
		return false
	}
	if !r.coversAddresses(c, u, class) {
		return false
	}
	switch {
	case len(r.paths) == 0:
		return true
	case r.verdict == policy.Deny && len(c.rep.Writes) == 0 && class != policy.Unknown:
		return false // it writes nothing that the rule could mean
	case len(r.programs) > 0 && len(c.rep.Writes) == 0:
		return true // it is named, and writes no file that could be elsewhere
	case slices.Contains(r.classes, class) && (class == policy.ReadOnly || len(r.programs) > 0 && !changes(class)):
		return true // of this part nothing is written, and it is named or harmless
	case len(r.programs) == 0 && (class == policy.Unknown || u.within.Worse(policy.NetworkRead)):
		return false // it may write elsewhere, or do what is no writing
	}
	return r.coversWrites(c, u)
}

func (r *rule) coversProgram(u *unit) bool {
	return len(r.programs) == 0 || slices.ContainsFunc(r.programs, func(p pattern) bool {
		return p.covers(u.words) && (r.verdict != policy.Allow || leads(u.words, len(p.words)) == "")
	})
}

// led returns the option that alone keeps the rule from standing for a unit: it leads elsewhere. "" is none.
func (r *rule) led(u *unit) string {
	if r.verdict != policy.Allow || len(r.programs) == 0 || r.coversProgram(u) {
		return ""
	}
	for _, p := range r.programs {
		if p.covers(u.words) {
			return leads(u.words, len(p.words))
		}
	}
	return ""
}

// coversClass reports whether the rule is for a class of a unit. Programs stand for a unit as a whole, so its own class
// decides: of the classes that only commands within it have, that one is the worst.
func (r *rule) coversClass(u *unit, class policy.Class) bool {
	switch {
	case slices.Contains(r.classes, class):
		return true
	case len(r.classes) > 0:
		return len(r.programs) > 0 && slices.Contains(r.classes, u.classes[0])
	case len(r.programs) > 0:
		return class != policy.Forbidden
	}
	if len(r.to) > 0 {
		return class == policy.NetworkRead
	}
	// Paths alone say nothing about what nobody understands, and little about the rest.
	return class != policy.NetworkRead && class != policy.Unknown && class != policy.SensitiveRead && !grave(class)
}

func grave(c policy.Class) bool { return c == policy.Privileged || c == policy.Forbidden }

// coversWrites reports whether the unit is about files, and every file that the command writes matches.
func (r *rule) coversWrites(c *command, u *unit) bool {
	if n := len(c.rep.Writes); n == 0 || n >= mostPaths || u.core == "" {
		return false
	}
	for _, p := range c.rep.Writes {
		abs, known := absolute(p)
		if !known || p.Remote || !slices.ContainsFunc(r.paths, func(pp pathPattern) bool { return pp.covers(abs) }) {
			return false
		}
	}
	// A redirect into a good place must not vouch for the program: by itself it changes nothing, or names its files too.
	core := judge.Judge(judge.Request{Script: u.core, Shell: c.shell, Interactive: c.typed})
	if u.out && (core.Class == policy.ReadOnly || !changes(core.Class) && slices.Contains(r.classes, core.Class)) {
		return true
	}
	return len(core.Writes) > 0 && (len(r.programs) > 0 || plainWriter(u.args))
}

// mostPaths is fewer than the judge ever reports: at so many there may be more.
const mostPaths = 256

// touches says whether the rule applies to anything in the command, or may. That is what it takes to deny and to ask.
func (r *rule) touches(c *command) match {
	m := yes
	switch {
	case len(r.programs) > 0:
		m = r.touchesPrograms(c)
	case len(r.classes) > 0 && !slices.ContainsFunc(r.classes, func(k policy.Class) bool { return slices.Contains(c.rep.Classes, k) }):
		m = no
	}
	if len(r.paths) > 0 {
		writes := r.touchesWrites(c.rep)
		if writes == no && m != no && r.namesPlaces(c) {
			writes = maybe
		}
		m = min(m, writes)
	}
	if len(r.to) > 0 {
		m = min(m, r.touchesAddresses(c.rep))
	}
	if c.torn && len(r.programs)+len(r.paths)+len(r.to) > 0 {
		return max(m, maybe)
	}
	return m
}

func (r *rule) touchesWrites(rep *judge.Report) match {
	m := no
	if rep.Capped || rep.Hidden || len(rep.Writes) >= mostPaths {
		m = maybe
	}
	for _, w := range rep.Writes {
		for _, p := range r.paths {
			m = max(m, p.touches(w))
		}
	}
	return m
}

// touchesPrograms looks for a command that is both of the programs and of the classes.
func (r *rule) touchesPrograms(c *command) match {
	m := no
	if c.rep.Capped || c.rep.Hidden {
		m = maybe
	}
	for _, s := range c.all() {
		class := r.touchesClass(s)
		for _, p := range r.programs {
			m = max(m, min(class, p.touches(s.words, s.torn)))
		}
	}
	return m
}

// touchesClass says whether the rule is for a command's class. What the command is wrapped in, or stands in, makes it maybe.
func (r *rule) touchesClass(s seen) match {
	switch {
	case len(r.classes) == 0 || slices.Contains(r.classes, s.class):
		return yes
	case slices.ContainsFunc(s.outer, func(k policy.Class) bool { return slices.Contains(r.classes, k) }):
		return maybe
	}
	return no
}

package rules

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// layer is a file in an Engine.
type layer struct {
	file    *File
	kind    string // what its rules are called by in decisions: "system/" or "policy/"
	tighten bool   // it can only tighten what lies below
}

// matching is the rules that are for a principal and a host.
type matching struct {
	engine *Engine
	role   Role
	layers [2][]*rule // as in the engine
}

// matching returns nil where there are none.
func (e *Engine) matching(role Role, req policy.Request) *matching {
	var m *matching
	for i, l := range e.layers {
		for _, r := range l.file.rules {
			if !r.principals.match(role, req.Principal) || !r.hosts.Match(req.Host) {
				continue
			}
			if m == nil {
				m = &matching{engine: e, role: role}
			}
			m.layers[i] = append(m.layers[i], r)
		}
	}
	return m
}

// rule is [Engine.rule] where there are rules to look at.
func (m *matching) rule(h hosts.Host, j *judged) ruling {
	out := m.look(h, m.command(j))
	// Rules about programs and paths say nothing about what may come.
	unknown := classReport(policy.Unknown)
	out.free = m.look(h, byClass(&unknown)).verdict == policy.Allow
	return out
}

func (m *matching) look(h hosts.Host, c *command) ruling {
	var out ruling
	for i := range c.units {
		for _, k := range c.units[i].classes {
			next := m.lookup(h, c, &c.units[i], k)
			if out.rule == "" {
				out.cell, out.class = next, k
			}
			out.tighten(next, k)
		}
	}
	if s := m.tightened(c); s != nil {
		out.tighten(*s, c.rep.Class)
	}
	return out
}

// command takes the source apart only where that can make a difference.
func (m *matching) command(j *judged) *command {
	if m.role == Program { // for which what is read-only is not allowed by itself
		return j.command()
	}
	for _, layer := range m.layers {
		for _, r := range layer {
			if len(r.programs)+len(r.paths)+len(r.to) > 0 {
				return j.command()
			}
		}
	}
	return byClass(&j.rep)
}

// lookup returns what the layers make of a class of a unit.
func (m *matching) lookup(h hosts.Host, c *command, u *unit, k policy.Class) cell {
	out := m.engine.builtin(m.role, h, k)
	led := ""
	for i, l := range m.engine.layers {
		var layer *cell
		for _, r := range m.layers[i] {
			if !r.covers(c, u, k) {
				if option := r.led(u); option != "" {
					led = "the rule " + r.name + " does not cover " + option + ", " + notLed
				}
				continue
			}
			next := m.cell(l, r, r.verdict, k)
			if layer == nil {
				layer = &next
			} else {
				*layer = stricter(*layer, next)
			}
		}
		switch {
		case layer == nil:
		case l.tighten:
			out = stricter(out, *layer)
		default:
			out = *layer
		}
	}
	if led != "" && out.verdict != policy.Allow && out.reason == "" {
		out.reason = reasonFor(c.rep, k) + "; " + led
	}
	return out
}

// tightened returns what rules that deny or ask make of the command as a whole, or nil.
func (m *matching) tightened(c *command) *cell {
	var out *cell
	for i, l := range m.engine.layers {
		for _, r := range m.layers[i] {
			if r.verdict == policy.Allow {
				continue
			}
			found := r.touches(c)
			if found == no {
				continue
			}
			next := m.cell(l, r, r.verdict, c.rep.Class)
			if found == maybe && r.verdict == policy.Deny {
				next = m.cell(l, r, policy.Ask, c.rep.Class)
				next.reason = "Fairlead cannot determine whether this rule denies the command: " + next.reason
			}
			if out == nil {
				out = &next
			} else {
				*out = stricter(*out, next)
			}
		}
	}
	return out
}

func (m *matching) cell(l layer, r *rule, v policy.Verdict, k policy.Class) cell {
	out := cell{verdict: v, rule: l.kind + r.name, reason: r.reason}
	out.needs, out.hint = needsOf(m.role, v, k)
	if out.reason == "" {
		out.reason = "the rule says so"
	}
	return out
}

// hashFiles names the files that a policy is made of.
func hashFiles(files ...*File) string {
	h, any := sha256.New(), false
	for i, f := range files {
		if f != nil {
			any = true
			h.Write([]byte{byte(i)})
			h.Write(f.sum[:])
		}
	}
	if !any {
		return "builtin"
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

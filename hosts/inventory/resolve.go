package inventory

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
)

// machine is one host on its way to a value.
type machine struct {
	name   string
	pos    hosts.Pos
	own    settings
	outer  choice // of the sources that it is in: their tier and labels
	lent   choice // what sources say of it through groups
	given  choice // what sources say of it alone
	source int    // which source it is of alone, from 1; 0 means that the file has it
	addr   string // its part of a range of addresses
	direct map[int]bool
	groups []int // all of them, inner first
	rules  []*rule
}

// resolver puts a document together.
type resolver struct {
	*problems
	doc      *document
	tree     *tree
	machines []*machine
	index    map[string]*machine
	full     bool              // whether hosts were left out, and that was said
	ties     map[tie][]string  // the hosts concerned
	byGroups map[string]choice // what a set of groups amounts to
	said     map[string]bool   // see once
	origins  hosts.Origins
}

// tie is a contradiction between two places about one field.
type tie struct {
	field string
	a, b  hosts.Pos
}

// choice is what several places of equal standing say, field by field.
type choice struct {
	set  settings
	ties map[string]hosts.Pos // fields they disagree on, and who is the other
}

func resolve(p *problems, doc *document) ([]hosts.Host, hosts.Origins) {
	doc.mergeGroups()
	r := &resolver{problems: p, doc: doc, tree: newTree(p, doc.groups), index: map[string]*machine{},
		ties: map[tie][]string{}, byGroups: map[string]choice{}, said: map[string]bool{}, origins: hosts.Origins{}}
	r.collect()
	r.checkVias()
	r.applyRules()
	out := make([]hosts.Host, len(r.machines))
	for i, m := range r.machines {
		final, ties := r.settle(m)
		out[i] = r.build(m, final)
		r.place(m, final)
		r.checkTransport(m, &out[i])
		r.note(m, ties)
	}
	r.checkRoutes(out)
	r.reportTies()
	return out, r.origins
}

// collect makes the machines: entries first, then whoever only groups list; and then puts them in the order of the file.
func (r *resolver) collect() {
	for _, e := range r.doc.entries {
		var double []string
		for i, name := range e.names {
			if _, ok := r.index[name]; ok {
				double = append(double, name)
				continue
			}
			if m := r.machine(name, e.pos, e.set); len(e.addrs) > 0 && m != nil {
				m.addr = e.addrs[i]
			}
		}
		if len(double) > 0 {
			r.add(e.pos, "host %s is there twice; first on line %d", clip(hosts.Fold(double)), r.index[double[0]].pos.Line)
		}
		for _, g := range e.groups {
			i, ok := r.tree.byName[g.name]
			if !ok {
				r.add(g.pos, "group %q does not exist%s", g.name, r.unknown(g.name, r.tree.names()))
				continue
			}
			for _, name := range e.names {
				if m := r.index[name]; m != nil {
					m.direct[i] = true
				}
			}
		}
	}
	r.importHosts()
	for i, g := range r.tree.groups {
		for _, h := range g.hosts {
			m, ok := r.index[h.name]
			if !ok {
				m = r.machine(h.name, h.pos, nil)
			}
			if m != nil {
				m.direct[i] = true
			}
		}
	}
	slices.SortStableFunc(r.machines, func(a, b *machine) int {
		if a.source != 0 || b.source != 0 { // those of a source keep its order
			return cmp.Compare(a.source, b.source)
		}
		return cmp.Compare(a.pos.Line, b.pos.Line)
	})
	for _, m := range r.machines {
		m.groups = r.tree.around(m.direct)
	}
}

// machine adds a host; beyond the limit it says so once and returns nil.
func (r *resolver) machine(name string, pos hosts.Pos, own settings) *machine {
	if len(r.machines) == hosts.MaxExpand {
		if !r.full {
			r.add(pos, "more than %d hosts", hosts.MaxExpand)
		}
		r.full = true
		return nil
	}
	m := &machine{name: name, pos: pos, own: own, direct: map[int]bool{}}
	r.machines = append(r.machines, m)
	r.index[name] = m
	return m
}

// applyRules gives each machine its rules. They are matched against the hosts as they are without rules.
func (r *resolver) applyRules() {
	if len(r.doc.rules) == 0 {
		return
	}
	base := make([]hosts.Host, len(r.machines))
	for i, m := range r.machines {
		set, _ := r.settle(m)
		base[i] = r.build(m, set)
	}
	var groups []hosts.Group
	for _, g := range r.tree.groups {
		groups = append(groups, hosts.Group{Name: g.name})
	}
	inv, err := hosts.NewInventory(base, groups)
	if err != nil {
		panic("inventory: internal error: " + err.Error()) // names were checked, and doubles left out
	}
	for _, u := range r.doc.rules {
		if err := inv.Check(u.match); err != nil {
			r.wrap(u.pos, "match", err)
			continue
		}
		for i, m := range r.machines {
			if u.match.Match(base[i]) {
				m.rules = append(m.rules, u)
			}
		}
	}
}

// settle returns the fields of one machine from the innermost place that sets them, and the contradictions that remain.
func (r *resolver) settle(m *machine) (settings, map[string][2]hosts.Pos) {
	out := maps.Clone(r.doc.defaults)
	if out == nil {
		out = settings{}
	}
	ties := map[string][2]hosts.Pos{}
	lay := func(c choice) {
		for key, s := range c.set {
			out[key] = s
			delete(ties, key)
		}
		for key, other := range c.ties {
			ties[key] = [2]hosts.Pos{other, c.set[key].pos}
		}
	}
	lay(m.outer)
	lay(m.lent)
	lay(r.fromGroups(m.groups))
	lay(fromRules(m.rules))
	lay(m.given)
	lay(choice{set: m.own})
	return out, ties
}

// fromGroups returns what groups say together: for each field, the groups that set it and have no other such group
// inside.
func (r *resolver) fromGroups(groups []int) choice {
	var key strings.Builder
	for _, g := range groups {
		key.WriteString(strconv.Itoa(g) + " ")
	}
	if c, ok := r.byGroups[key.String()]; ok {
		return c
	}
	c := choice{settings{}, map[string]hosts.Pos{}}
	setters := map[string][]int{} // inner groups come first, so what is inside of a group is there before it
	for _, g := range groups {
		for field, s := range r.tree.groups[g].set {
			if slices.ContainsFunc(setters[field], func(inner int) bool { return r.tree.outer[inner][g] }) {
				continue
			}
			setters[field] = append(setters[field], g)
			c.lay(field, s)
		}
	}
	r.byGroups[key.String()] = c
	return c
}

func fromRules(rules []*rule) choice {
	c := choice{settings{}, map[string]hosts.Pos{}}
	for _, u := range rules {
		for field, s := range u.set {
			c.lay(field, s)
		}
	}
	return c
}

// lay adds what one more place says.
func (c choice) lay(field string, s setting) {
	first, set := c.set[field]
	if !set {
		c.set[field] = s
		return
	}
	if _, known := c.ties[field]; !known && !same(first.value, s.value) {
		c.ties[field] = s.pos
	}
}

func same(a, b any) bool {
	if x, ok := a.([]ref); ok {
		y, ok := b.([]ref)
		return ok && slices.Equal(names(x), names(y))
	}
	return reflect.DeepEqual(a, b)
}

// place remembers which fields of a machine stand elsewhere than in its own entry.
func (r *resolver) place(m *machine, set settings) {
	var at map[string]hosts.Pos
	for field, s := range set {
		if _, own := m.own[field]; own || s.pos == m.pos || field == "addr" && m.addr != "" {
			continue
		}
		if at == nil {
			at = map[string]hosts.Pos{}
		}
		at[field] = s.pos
	}
	if at != nil {
		r.origins[m.name] = at
	}
}

// build makes the value.
func (r *resolver) build(m *machine, set settings) hosts.Host {
	h := hosts.Host{Name: m.name, Source: m.pos}
	for _, g := range m.groups {
		h.Groups = append(h.Groups, r.tree.groups[g].name)
	}
	for _, s := range set {
		s.apply(&h, s.value)
	}
	if m.addr != "" {
		h.Addr = m.addr
	}
	for _, list := range []*[]string{&h.Via, &h.Identity, &h.Env, &h.Command} {
		if len(*list) == 0 {
			*list = nil
		}
	}
	if len(h.Ready) == 0 {
		h.Ready = nil
	}
	return h
}

// note remembers the contradictions about one machine, to report each once for all hosts.
func (r *resolver) note(m *machine, ties map[string][2]hosts.Pos) {
	for field, at := range ties {
		a, b := at[0], at[1]
		if a.File == b.File && a.Line > b.Line || a.File != b.File && a.File > b.File {
			a, b = b, a
		}
		key := tie{field, a, b}
		r.ties[key] = append(r.ties[key], m.name)
	}
}

func (r *resolver) reportTies() {
	for t, names := range r.ties {
		where := fmt.Sprintf("on line %d", t.a.Line)
		if t.a.File != t.b.File {
			where = "in " + t.a.String()
		}
		r.add(t.b, "%s of %s is set differently %s: set it on the host, or nest one place in the other",
			t.field, clip(hosts.Fold(names)), where)
	}
}

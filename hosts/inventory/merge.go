package inventory

import (
	"slices"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/inventory/foreign"
)

// mergeGroups adds the groups of sources to those of the file. One that the file has too has the members of both.
func (doc *document) mergeGroups() {
	byName := make(map[string]*group, len(doc.groups))
	for _, g := range doc.groups {
		if byName[g.name] == nil {
			byName[g.name] = g
		}
	}
	for _, src := range doc.imported {
		for _, from := range src.inv.Groups {
			g := byName[from.Name]
			if g == nil {
				g = &group{name: from.Name, pos: from.Pos, set: settings{}}
				byName[g.name] = g
				doc.groups = append(doc.groups, g)
			}
			g.hosts = merge(g.hosts, from.Hosts)
			g.children = merge(g.children, from.Children)
		}
	}
}

// merge adds the members that are not there.
func merge(refs []ref, more []foreign.Member) []ref {
	there := make(map[string]bool, len(refs)+len(more))
	for _, r := range refs {
		there[r.name] = true
	}
	for _, m := range more {
		if !there[m.Name] {
			there[m.Name] = true
			refs = append(refs, ref{m.Name, m.Pos})
		}
	}
	return refs
}

// refusal takes the place of a field's value that decides where or as whom one logs in and that could not be read.
type refusal string

// importHosts adds the hosts of sources, and to those of the file what sources say of them.
func (r *resolver) importHosts() {
	read := &reader{problems: r.problems}
	for i, src := range r.doc.imported {
		for _, h := range src.inv.Hosts {
			m := r.index[h.Name]
			if m == nil {
				if m = r.machine(h.Name, h.Pos, nil); m == nil {
					return
				}
				m.source = i + 1
			}
			m.outer.add(src.set)
			inherited, own := settings{}, settings{}
			for _, f := range h.Fields {
				to := own
				if f.Inherited {
					to = inherited
				}
				read.imported(f, to)
			}
			m.lent.add(inherited)
			m.given.add(own)
		}
	}
}

// add lays what one more source says beside what others said.
func (c *choice) add(set settings) {
	if len(set) == 0 {
		return
	}
	if c.set == nil {
		c.set, c.ties = settings{}, map[string]hosts.Pos{}
	}
	for field, s := range set {
		c.lay(field, s)
	}
}

// imported turns a field of a source into a setting.
func (r *reader) imported(f foreign.Field, into settings) {
	switch {
	case f.Refusal != "":
		why := f.Refusal + "; set " + f.Name + " of the host in an inventory of Fairlead's that has this one under sources"
		into[f.Name] = setting{refusal(why), f.Pos, func(h *hosts.Host, v any) {
			if text := string(v.(refusal)); h.NoLogin == "" || text < h.NoLogin { // the same one each time
				h.NoLogin = text
			}
		}}
		return
	case f.Name == "via":
		// Jump hosts may stand outside of the inventory here, as user@host does.
		refs := []ref{}
		for _, v := range f.Values {
			refs = append(refs, ref{v, f.Pos})
		}
		into[f.Name] = setting{refs, f.Pos, applyVia}
		return
	}
	n := &node{kind: list, pos: f.Pos}
	for _, v := range f.Values {
		n.items = append(n.items, &node{kind: scalar, text: v, pos: f.Pos})
	}
	if len(f.Name) > len(labels) && f.Name[:len(labels)+1] == labels+"." {
		n.items[0].text = f.Name[len(labels)+1:] + "=" + n.items[0].text
		r.under(labels, func() { r.labels(n, into) })
		return
	}
	i := slices.IndexFunc(fields, func(one field) bool { return one.name == f.Name })
	if !fields[i].list {
		n = n.items[0]
	}
	r.under(f.Name, func() {
		if v := fields[i].read(r, n); v != nil {
			into[f.Name] = setting{v, f.Pos, fields[i].apply}
		}
	})
}

func applyVia(h *hosts.Host, v any) { h.Via = names(v.([]ref)) }

package foreign

import (
	"bytes"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// Clush reads a file of node groups as ClusterShell has them in groups.d: YAML, a mapping of sources of groups, or the old
// form with a line "group: nodes" for each.
func Clush(path string) (*Inventory, error) {
	var f files
	data, err := f.read(path)
	if err != nil {
		return nil, err
	}
	inv, err := nodeGroups(path, data)
	if err != nil {
		return nil, err
	}
	inv.Files = f.all()
	return inv, nil
}

// nodeGroup is one group of a file.
type nodeGroup struct {
	source, name string
	terms        []nodeTerm
	pos          hosts.Pos
	state        int
	nodes        *nodeSet // once they are known
}

// nodeTerm is one operand of an expression: a group, or nodes.
type nodeTerm struct {
	op    byte   // ',' union, '!' difference, '&' intersection, '^' those that are in one of the two
	group string // "source:name"; "" means nodes
	nodes []string
	pos   hosts.Pos
}

type clushReader struct {
	notes
	file   string
	groups []*nodeGroup
	byName map[string]*nodeGroup // "source:name"
	names  map[string]int        // how many sources have a group of the name
	total  int                   // nodes over all groups
}

var oldGroup = lazyregexp.New(`^([A-Za-z0-9_.+-]+):\s*(.*)$`)

// nodeGroups reads the text of a file.
func nodeGroups(file string, data []byte) (*Inventory, error) {
	r := &clushReader{file: file, byName: map[string]*nodeGroup{}, names: map[string]int{}}
	read := r.old
	if isNodeYAML(data) {
		read = r.yaml
	}
	if err := read(data); err != nil {
		return nil, err
	}
	return r.inventory()
}

// isNodeYAML reports whether a file is a mapping of mappings. In the old form every line holds nodes.
func isNodeYAML(data []byte) bool {
	for line := range strings.Lines(string(data)) {
		plain, _, _ := strings.Cut(line, "#")
		if plain = strings.TrimSpace(plain); plain == "" {
			continue
		}
		return plain == "---" || strings.HasSuffix(plain, ":") || strings.HasSuffix(plain, "}") || strings.HasPrefix(plain, "{")
	}
	return false
}

func (r *clushReader) yaml(data []byte) error {
	values := 0
	d := &yamlDoc{file: r.file, values: &values, twice: r.notes.twice}
	root, err := d.root(data)
	if err != nil || root == nil {
		return err
	}
	sources, err := d.pairs(root, 0)
	if err != nil {
		return err
	}
	for _, s := range sources {
		n := real(s.val)
		if isNull(n) {
			continue
		}
		groups, err := d.pairs(n, 1)
		if err != nil {
			return err
		}
		for _, g := range groups {
			var texts []string
			if v := real(g.val); v.Kind == yaml.SequenceNode {
				if err := d.items(v, func(text string, _ hosts.Pos) error { texts = append(texts, text); return nil }); err != nil {
					return err
				}
			} else if v.Kind != yaml.ScalarNode {
				return wrong(g.at, "group %q must be a text of nodes, or a list of such", clip(g.key))
			} else if !isNull(v) {
				texts = []string{v.Value}
			}
			if err := r.add(s.key, g.key, strings.Join(texts, ","), g.at); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *clushReader) old(data []byte) error {
	line := 0
	for text := range bytes.Lines(data) {
		line++
		pos := hosts.Pos{File: r.file, Line: line}
		plain, _, _ := strings.Cut(string(text), "#")
		if plain = strings.TrimSpace(plain); plain == "" {
			continue
		}
		found := oldGroup.FindStringSubmatch(plain)
		if found == nil {
			return wrong(pos, "expected a line of the form GROUP: NODES")
		}
		if err := r.add("", found[1], found[2], pos); err != nil {
			return err
		}
	}
	return nil
}

// add reads the nodes of a group. A group that is there twice has the nodes of both.
func (r *clushReader) add(source, name, nodes string, pos hosts.Pos) error {
	terms, err := r.terms(source, nodes, pos)
	if err != nil {
		return err
	}
	key := source + ":" + name
	if g := r.byName[key]; g != nil {
		g.terms = append(g.terms, terms...)
		return nil
	}
	if len(r.groups) >= maxGroups {
		return wrong(pos, "more than %d groups", maxGroups)
	}
	g := &nodeGroup{source: source, name: name, terms: terms, pos: pos}
	r.groups = append(r.groups, g)
	r.byName[key] = g
	r.names[name]++
	return nil
}

// terms splits an expression of nodes. Spaces are unions, as commas are.
func (r *clushReader) terms(source, text string, pos hosts.Pos) (out []nodeTerm, err error) {
	op, start, depth := byte(','), 0, 0
	take := func(end int) error {
		word := strings.TrimSpace(text[start:end])
		if word == "" {
			return nil
		}
		t := nodeTerm{op: op, pos: pos}
		if group, ok := strings.CutPrefix(word, "@"); ok {
			if !strings.Contains(group, ":") {
				group = source + ":" + group
			}
			t.group = group
		} else {
			if strings.ContainsAny(word, "*?") {
				return wrong(pos, "%q: * and ? are not supported in the nodes of a group", clip(word))
			}
			nodes, err := hosts.Expand(word)
			if err != nil {
				return wrong(pos, "nodes %q: %s", clip(word), strings.TrimPrefix(err.Error(), "hosts: "))
			}
			if r.total += len(nodes); r.total > maxValues {
				return wrong(pos, "more than %d nodes in all groups", maxValues)
			}
			t.nodes = nodes
		}
		out, op = append(out, t), ','
		return nil
	}
	for i := range len(text) {
		c := text[i]
		switch {
		case c == '[':
			depth++
		case c == ']':
			depth--
		case depth > 0:
		case strings.IndexByte(",!&^ \t\n", c) >= 0:
			if err := take(i); err != nil {
				return nil, err
			}
			start = i + 1
			switch c {
			case ',', '!', '&', '^':
				op = c
			}
		}
	}
	if err := take(len(text)); err != nil {
		return nil, err
	}
	return out, nil
}

// inventory makes groups and hosts of what was read.
func (r *clushReader) inventory() (*Inventory, error) {
	inv := &Inventory{}
	seen := map[string]bool{}
	for _, g := range r.groups {
		set, err := r.resolve(g)
		if err != nil {
			return nil, err
		}
		for _, name := range set.names {
			if !seen[name] {
				if len(inv.Hosts) >= maxHosts {
					return nil, wrong(g.pos, "more than %d hosts", maxHosts)
				}
				seen[name] = true
				inv.Hosts = append(inv.Hosts, Host{Name: name, Pos: set.pos[name]})
			}
		}
	}
	for _, g := range r.groups {
		name, ok := r.groupName(g)
		if !ok {
			continue
		}
		inv.Groups = append(inv.Groups, r.members(g, name))
	}
	inv.Notes = r.notes.all(r.file)
	return inv, nil
}

// groupName is the group's own, with its source's before it where several have such a group.
func (r *clushReader) groupName(g *nodeGroup) (string, bool) {
	name := g.name
	if r.names[g.name] > 1 {
		name = g.source + "." + g.name
	}
	if err := hosts.CheckGroup(name); err != nil {
		r.notes.add(g.pos, "group %q is left out, its nodes are not: a group's name %v", clip(name), err)
		return "", false
	}
	return name, true
}

// members puts groups that a union names inside; of any other expression the nodes.
func (r *clushReader) members(g *nodeGroup, name string) Group {
	out := Group{Name: name, Pos: g.pos}
	union := true
	for _, t := range g.terms {
		if t.group != "" {
			_, named := r.groupName(r.byName[t.group])
			union = union && named
		}
		union = union && t.op == ','
	}
	if !union {
		for _, n := range g.nodes.names {
			out.Hosts = append(out.Hosts, Member{n, g.pos})
		}
		return out
	}
	seen := map[string]bool{}
	for _, t := range g.terms {
		if t.group != "" {
			if child, _ := r.groupName(r.byName[t.group]); child != name && !seen["@"+child] {
				seen["@"+child] = true
				out.Children = append(out.Children, Member{child, t.pos})
			}
			continue
		}
		for _, n := range t.nodes {
			if !seen[n] {
				seen[n] = true
				out.Hosts = append(out.Hosts, Member{n, t.pos})
			}
		}
	}
	return out
}

// nodeSet is a set that keeps its order.
type nodeSet struct {
	names []string
	pos   map[string]hosts.Pos
}

// resolve returns the nodes of a group. Operators are applied from left to right, as clush does.
func (r *clushReader) resolve(g *nodeGroup) (*nodeSet, error) {
	const open, done = 1, 2
	switch g.state {
	case open:
		return nil, wrong(g.pos, "group %q is inside itself", clip(g.name))
	case done:
		return g.nodes, nil
	}
	g.state = open
	out := &nodeSet{pos: map[string]hosts.Pos{}}
	for _, t := range g.terms {
		with := &nodeSet{names: t.nodes, pos: map[string]hosts.Pos{}}
		for _, n := range t.nodes {
			with.pos[n] = t.pos
		}
		if t.group != "" {
			other := r.byName[t.group]
			if other == nil {
				return nil, wrong(t.pos, "there is no group @%s in this file", clip(strings.TrimPrefix(t.group, ":")))
			}
			var err error
			if with, err = r.resolve(other); err != nil {
				return nil, err
			}
		}
		if r.total += len(with.names) + len(out.names); r.total > 10*maxValues {
			return nil, wrong(t.pos, "the groups hold too many nodes together")
		}
		out = out.combine(t.op, with)
	}
	g.state, g.nodes = done, out
	return out, nil
}

func (s *nodeSet) combine(op byte, with *nodeSet) *nodeSet {
	out := &nodeSet{pos: map[string]hosts.Pos{}}
	keep := func(from, other *nodeSet, inOther, notInOther bool) {
		for _, n := range from.names {
			_, both := other.pos[n]
			if _, there := out.pos[n]; !there && (both && inOther || !both && notInOther) {
				out.pos[n] = from.pos[n]
				out.names = append(out.names, n)
			}
		}
	}
	switch op {
	case '!':
		keep(s, with, false, true)
	case '&':
		keep(s, with, true, false)
	case '^':
		keep(s, with, false, true)
		keep(with, s, false, true)
	default:
		keep(s, with, true, true)
		keep(with, s, true, true)
	}
	return out
}

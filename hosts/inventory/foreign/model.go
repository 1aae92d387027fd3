package foreign

import (
	"cmp"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
)

// value is a variable as a file writes it.
type value struct {
	text string
	kind valueKind
	pos  hosts.Pos
}

type valueKind int

const (
	textValue  valueKind = iota
	nullValue            // nothing: as if it were not set
	otherValue           // a list or a mapping
	vaultValue           // encrypted
)

// variables are those of one host or group, by name.
type variables map[string]value

// model is an inventory of Ansible's on the way: groups, hosts and their variables, from one file or many.
type model struct {
	files
	notes
	root   string // names the source
	groups map[string]*ansibleGroup
	order  []string // of the groups
	hosts  map[string]*ansibleHost
	names  []string // of the hosts, in their order
	values int
}

type ansibleGroup struct {
	name     string
	hosts    []string
	members  map[string]hosts.Pos
	children map[string]hosts.Pos
	order    []string // of the children
	parents  []string
	vars     variables
	files    variables // from group_vars
	priority int
	pos      hosts.Pos
	depth    int
}

type ansibleHost struct {
	name   string
	groups []string // those that name it
	vars   variables
	files  variables // from host_vars
	pos    hosts.Pos
}

func newModel(root string) *model {
	m := &model{root: root, groups: map[string]*ansibleGroup{}, hosts: map[string]*ansibleHost{}}
	m.group("all", hosts.Pos{File: root})
	m.group("ungrouped", hosts.Pos{File: root})
	return m
}

// group returns the group of a name, made at pos where it is new.
func (m *model) group(name string, pos hosts.Pos) *ansibleGroup {
	g := m.groups[name]
	if g == nil {
		g = &ansibleGroup{name: name, members: map[string]hosts.Pos{}, children: map[string]hosts.Pos{}, vars: variables{}, files: variables{}, priority: 1, pos: pos}
		m.groups[name] = g
		m.order = append(m.order, name)
	}
	return g
}

// setGroup sets a variable of a group.
func (m *model) setGroup(g *ansibleGroup, name string, v value) {
	if name == "ansible_group_priority" {
		if n, err := strconv.Atoi(strings.TrimSpace(v.text)); err == nil {
			g.priority = n
			return
		}
		m.add(v.pos, "ansible_group_priority is not a number")
		return
	}
	g.vars[name] = v
}

// setHost sets a variable of a host. Ansible gives those of a host that has the name of a group to the group.
func (m *model) setHost(h *ansibleHost, name string, v value) {
	if g := m.groups[h.name]; g != nil {
		m.setGroup(g, name, v)
		return
	}
	h.vars[name] = v
}

// child puts one group inside another.
func (m *model) child(parent, child *ansibleGroup, pos hosts.Pos) error {
	if _, there := parent.children[child.name]; there || parent == child {
		if parent == child {
			return wrong(pos, "group %q is inside itself", clip(child.name))
		}
		return nil
	}
	parent.children[child.name] = pos
	parent.order = append(parent.order, child.name)
	child.parents = append(child.parents, parent.name)
	return nil
}

// host puts a host into a group, and returns it.
func (m *model) host(name string, g *ansibleGroup, pos hosts.Pos) (*ansibleHost, error) {
	h := m.hosts[name]
	if h == nil {
		if len(m.hosts) >= maxHosts {
			return nil, wrong(pos, "more than %d hosts", maxHosts)
		}
		h = &ansibleHost{name: name, vars: variables{}, files: variables{}, pos: pos}
		m.hosts[name] = h
		m.names = append(m.names, name)
	}
	if _, there := g.members[name]; !there {
		g.members[name] = pos
		g.hosts = append(g.hosts, name)
		h.groups = append(h.groups, g.name)
	}
	return h, nil
}

// pattern returns the names that a host line begins with, and its port or "".
func (m *model) pattern(text string, pos hosts.Pos) (names []string, port string, err error) {
	pattern, port := cutPort(text)
	if strings.HasSuffix(strings.TrimSpace(pattern), ":") && port == "" && strings.Count(pattern, ":") == 1 {
		return nil, "", wrong(pos, "%q ends in a colon without a port; to read clush's groups, write: fairlead hosts import --format clush %s", clip(text), printable.Word(pos.File))
	}
	if !strings.Contains(pattern, "[") {
		return []string{pattern}, port, nil
	}
	names, err = expandRange(pattern, maxHosts-len(m.hosts))
	if err != nil {
		return nil, "", wrong(pos, "the range %q: %v", clip(text), err)
	}
	return names, port, nil
}

// cutPort takes a port off host:port and [address]:port.
func cutPort(text string) (host, port string) {
	i := strings.LastIndexByte(text, ':')
	if i < 1 || i+1 == len(text) || strings.Trim(text[i+1:], "0123456789") != "" {
		return text, ""
	}
	host, port = text[:i], text[i+1:]
	if inside, ok := strings.CutPrefix(host, "["); ok && strings.HasSuffix(inside, "]") {
		if _, err := netip.ParseAddr(inside[:len(inside)-1]); err == nil {
			return inside[:len(inside)-1], port // an IPv6 address
		}
	}
	outside := 0
	depth := 0
	for _, c := range host {
		switch {
		case c == '[':
			depth++
		case c == ']':
			depth--
		case c == ':' && depth == 0:
			outside++
		}
	}
	if outside > 0 || depth != 0 { // an IPv6 address without a port, or a range
		return text, ""
	}
	return host, port
}

// finish does what Ansible does once all is read: groups without a parent are in all, and hosts without a group are in
// ungrouped. It reports groups inside each other.
func (m *model) finish() error {
	if len(m.groups) > maxGroups {
		return wrong(hosts.Pos{File: m.root}, "more than %d groups", maxGroups)
	}
	all, ungrouped := m.groups["all"], m.groups["ungrouped"]
	for _, name := range m.order {
		g := m.groups[name]
		if g != all && len(g.parents) == 0 {
			if err := m.child(all, g, g.pos); err != nil {
				return err
			}
		}
	}
	if err := m.depths(); err != nil {
		return err
	}
	for _, name := range m.names {
		h := m.hosts[name]
		own := slices.DeleteFunc(slices.Clone(h.groups), func(g string) bool { return g == "all" || g == "ungrouped" })
		_, loose := ungrouped.members[name]
		switch {
		case len(own) > 0 && loose:
			delete(ungrouped.members, name)
			h.groups = slices.DeleteFunc(h.groups, func(g string) bool { return g == "ungrouped" })
		case len(own) == 0 && !loose:
			if _, err := m.host(name, ungrouped, h.pos); err != nil {
				return err
			}
		}
	}
	return nil
}

// depths says of each group how far inside of all it is, at most.
func (m *model) depths() error {
	const open, done = 1, 2
	state := map[string]int{}
	var path []string
	var visit func(name string) error
	visit = func(name string) error {
		g := m.groups[name]
		switch {
		case state[name] == done:
			return nil
		case len(path) > maxGroups:
			return wrong(g.pos, "more than %d levels of groups", maxGroups)
		}
		state[name] = open
		path = append(path, name)
		for _, p := range g.parents {
			if state[p] == open {
				return wrong(m.groups[p].children[name], "groups inside each other: %s", clip(strings.Join(append(path[slices.Index(path, p):], p), " < ")))
			}
			if err := visit(p); err != nil {
				return err
			}
			g.depth = max(g.depth, m.groups[p].depth+1)
		}
		path = path[:len(path)-1]
		state[name] = done
		return nil
	}
	for _, name := range m.order {
		if err := visit(name); err != nil {
			return err
		}
	}
	return nil
}

// around returns every group that a host is in, the outer ones first and in the order in which Ansible lays their
// variables over each other.
func (m *model) around(h *ansibleHost) []*ansibleGroup {
	seen := map[string]bool{"all": true}
	var out []*ansibleGroup
	var visit func(name string)
	visit = func(name string) {
		if seen[name] {
			return
		}
		seen[name] = true
		g := m.groups[name]
		out = append(out, g)
		for _, p := range g.parents {
			visit(p)
		}
	}
	for _, name := range h.groups {
		visit(name)
	}
	slices.SortFunc(out, func(a, b *ansibleGroup) int {
		return cmp.Or(cmp.Compare(a.depth, b.depth), cmp.Compare(a.priority, b.priority), cmp.Compare(a.name, b.name))
	})
	return append([]*ansibleGroup{m.groups["all"]}, out...)
}

// settled is a variable as it holds for a host.
type settled struct {
	value
	inherited bool
}

// settle returns the variables of a host, with Ansible's precedence: all's, then groups', then group_vars of all, then
// group_vars of groups, then the host's own, then host_vars.
func (m *model) settle(h *ansibleHost) map[string]settled {
	out := map[string]settled{}
	lay := func(vars variables, inherited bool) {
		for name, v := range vars {
			out[name] = settled{v, inherited}
		}
	}
	groups := m.around(h)
	for _, g := range groups {
		lay(g.vars, true)
	}
	for _, g := range groups {
		lay(g.files, true)
	}
	lay(h.vars, false)
	lay(h.files, false)
	return out
}

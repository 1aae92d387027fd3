package inventory

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
)

// document is what a file says, read but not yet put together.
type document struct {
	defaults settings
	groups   []*group
	entries  []*entry
	rules    []*rule
	vias     []ref
	creds    []credential
	strict   bool // there is a section of credentials, if an empty one
	specs    []*spec
	imported []imported // what they say, once read
}

// entry is one item of hosts: one host, or a range of them.
type entry struct {
	names  []string
	addrs  []string // one each, or none
	groups []ref
	set    settings
	pos    hosts.Pos
}

type group struct {
	name     string
	hosts    []ref
	children []ref
	set      settings
	pos      hosts.Pos
}

type rule struct {
	match hosts.Selector
	set   settings
	pos   hosts.Pos // of the selector
}

var sections = []string{"version", "defaults", "groups", "hosts", "rules", "sources", "credentials"}

// foreignToUs reports whether not one word at the top of a file is one of ours.
func foreignToUs(root *node) bool {
	for _, kv := range root.pairs {
		if slices.Contains(sections, strings.ToLower(kv.key)) {
			return false
		}
	}
	return len(root.pairs) > 0
}

func readDocument(p *problems, src *source) *document {
	r := &reader{problems: p}
	if foreignToUs(src.root) {
		r.add(src.root.pos, "this is not an inventory: one of Fairlead's begins with version: 1, and one of Ansible's has groups with hosts, vars or children; "+
			"for clush's groups, write: fairlead hosts import --format clush %s", printable.Word(src.root.pos.File))
		return &document{}
	}
	src.root.onlyKeys(p, "at the top", sections)
	checkVersion(r, src)
	doc := &document{}
	if n := src.root.get("defaults"); n != nil && n.kind != null {
		r.settings(&node{kind: n.kind, pos: n.pos, pairs: unknownOnly(n.pairs)}, "defaults")
	}
	doc.defaults = r.settings(src.defaults(), "defaults")
	r.single(doc.defaults)
	for _, n := range r.section(src, "groups") {
		if g := r.group(n); g != nil {
			doc.groups = append(doc.groups, g)
		}
	}
	for _, n := range r.section(src, "hosts") {
		if e := r.entry(n); e != nil {
			doc.entries = append(doc.entries, e)
		}
	}
	for _, n := range r.section(src, "rules") {
		if u := r.rule(n); u != nil {
			doc.rules = append(doc.rules, u)
		}
	}
	doc.strict = src.section("credentials") != nil
	for _, n := range r.section(src, "credentials") {
		doc.creds = append(doc.creds, r.credential(n))
	}
	for _, n := range r.section(src, "sources") {
		if len(doc.specs) == maxSources {
			r.add(n.pos, "more than %d sources", maxSources)
			break
		}
		if one := r.source(n); one != nil {
			doc.specs = append(doc.specs, one)
		}
	}
	doc.vias = r.vias
	return doc
}

// unknownOnly keeps the pairs that are no field, for their message: known ones are read from what Viper made of them.
func unknownOnly(pairs []pair) []pair {
	return slices.DeleteFunc(slices.Clone(pairs), func(kv pair) bool {
		return slices.ContainsFunc(fields, func(f field) bool { return f.name == kv.key })
	})
}

func checkVersion(r *reader, src *source) {
	n := src.section("version")
	if n == nil {
		r.add(src.root.pos, "version is missing: begin with version: 1")
		return
	}
	r.under("version", func() {
		if s, ok := r.text(n); ok && s != "1" {
			r.add(n.pos, "%q is not supported: this program reads version 1", clip(s))
		}
	})
}

// section returns the items of a top-level list. A key without a value is an empty list.
func (r *reader) section(src *source, name string) []*node {
	n := src.section(name)
	if n == nil || n.kind == null {
		return nil
	}
	var out []*node
	r.under(name, func() { out = r.items(n) })
	return out
}

// name reads the key that says what an item is called.
func (r *reader) name(n *node, what string) (string, bool) {
	v := n.get("name")
	if v == nil {
		r.add(n.pos, "%s without a name", what)
		return "", false
	}
	var out string
	var ok bool
	r.under("name", func() { out, ok = r.text(v) })
	return out, ok
}

// refs reads the list of groups under key.
func (r *reader) refs(n *node, key string) (out []ref) {
	if n = n.get(key); n == nil {
		return nil
	}
	r.key = key
	defer func() { r.key = "" }()
	for _, item := range r.items(n) {
		s, ok := r.text(item)
		if !ok {
			continue
		}
		if err := hosts.CheckGroup(s); err != nil {
			r.add(item.pos, "%q %v", clip(s), err)
			continue
		}
		if slices.ContainsFunc(out, func(o ref) bool { return o.name == s }) {
			r.add(item.pos, "%q is there twice", s)
			continue
		}
		out = append(out, ref{s, item.pos})
	}
	return out
}

func (r *reader) group(n *node) *group {
	set := r.settings(n, "a group", "name", "hosts", "children")
	if n.kind != mapping {
		return nil
	}
	g := &group{set: set, pos: n.pos}
	r.single(set)
	g.children = r.refs(n, "children")
	if list := n.get("hosts"); list != nil {
		r.under("hosts", func() { g.hosts = r.hostNames(list) })
	}
	var ok bool
	if g.name, ok = r.name(n, "a group"); !ok {
		return nil
	}
	if err := hosts.CheckGroup(g.name); err != nil {
		r.add(n.get("name").pos, "group name %q %v", clip(g.name), err)
		return nil
	}
	return g
}

// hostNames reads a list of names and ranges.
func (r *reader) hostNames(n *node) []ref {
	var out []ref
	seen := map[string]bool{}
	for _, item := range r.items(n) {
		s, ok := r.text(item)
		if !ok {
			continue
		}
		expanded, ok := r.expand(item, s)
		if !ok {
			continue
		}
		var double []string
		for _, name := range expanded {
			if seen[name] {
				double = append(double, name)
				continue
			}
			seen[name] = true
			out = append(out, ref{name, item.pos})
		}
		if len(double) > 0 {
			r.add(item.pos, "%s is in this list twice", clip(hosts.Fold(double)))
		}
	}
	return out
}

// expand reads one name or range.
func (r *reader) expand(n *node, s string) ([]string, bool) {
	out, err := hosts.Expand(s)
	if err != nil {
		r.wrap(n.pos, fmt.Sprintf("host name %q", clip(s)), reason(err))
		return nil, false
	}
	return out, true
}

// reason takes the place out of an error about a short text that the message quotes anyway.
func reason(err error) error {
	if pe, ok := err.(*hosts.ParseError); ok && pe.Pos.File == "" {
		return &hosts.ParseError{Msg: pe.Msg, Err: pe.Err}
	}
	return err
}

func (r *reader) entry(n *node) *entry {
	set := r.settings(n, "a host", "name", "groups")
	if n.kind != mapping {
		return nil
	}
	e := &entry{set: set, pos: n.pos, groups: r.refs(n, "groups")}
	name, ok := r.name(n, "a host")
	if !ok {
		return nil
	}
	if e.names, ok = r.expand(n.get("name"), name); !ok {
		return nil
	}
	r.addrs(e)
	return e
}

// addrs gives each host of a range its own address, if the address is a range too.
func (r *reader) addrs(e *entry) {
	addr, ok := e.set["addr"]
	if !ok || len(e.names) == 1 {
		r.single(e.set)
		return
	}
	addrs, err := hosts.Expand(addr.value.(string))
	if err != nil || len(addrs) == 1 {
		return // an IPv6 literal, or one address for all
	}
	if len(addrs) != len(e.names) {
		r.add(addr.pos, "addr: a range of %d addresses for a range of %d hosts", len(addrs), len(e.names))
		return
	}
	e.addrs = addrs
}

func (r *reader) rule(n *node) *rule {
	if !r.mapping(n, "rules", "match", "set") {
		return nil
	}
	match, set := n.get("match"), n.get("set")
	if match == nil {
		r.add(n.pos, "a rule without match: say which hosts it is for")
	}
	if set == nil {
		r.add(n.pos, "a rule without set: say what it changes")
	}
	u := &rule{}
	if set != nil {
		u.set = r.settings(set, "set")
		r.single(u.set)
	}
	if match == nil {
		return nil
	}
	var s string
	var ok bool
	if r.under("match", func() { s, ok = r.text(match) }); !ok {
		return nil
	}
	var err error
	if u.match, err = hosts.ParseSelector(s); err != nil {
		r.wrap(match.pos, fmt.Sprintf("match %q", clip(s)), err)
		return nil
	}
	u.pos = match.pos
	return u
}

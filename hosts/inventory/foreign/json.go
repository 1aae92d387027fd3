package foreign

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fairlead-ssh/fairlead/hosts"
)

// json reads what a program prints when Ansible calls it with --list: groups, and _meta with the variables of hosts. JSON
// is read as YAML, of which it is a part, for the lines. printed says that it came from a program and not from a file.
func (m *model) json(file string, data []byte, printed bool) error {
	if t := strings.TrimSpace(string(data)); !strings.HasPrefix(t, "{") {
		return wrong(hosts.Pos{File: file, Line: 1}, "this is not the JSON object that Ansible expects of --list")
	}
	d := &yamlDoc{file: file, values: &m.values, printed: printed, twice: m.notes.twice}
	root, err := d.root(tabless(data))
	if err != nil {
		return err
	}
	if root == nil {
		return wrong(hosts.Pos{File: file, Line: 1}, "this is not the JSON object that Ansible expects of --list")
	}
	top, err := d.pairs(root, 0)
	if err != nil {
		return err
	}
	var meta *yaml.Node
	for _, kv := range top {
		if kv.key == "_meta" {
			meta = kv.val
			continue
		}
		if err := m.jsonGroup(d, kv); err != nil {
			return err
		}
	}
	if meta == nil {
		return wrong(hosts.Pos{File: file, Line: 1}, `there is no "_meta" with "hostvars": let the program print it, or name it with --list as the last word, and Fairlead asks it with --host NAME for each host`)
	}
	return m.jsonMeta(d, meta)
}

// tabless puts spaces in place of the tabs that indent JSON, which YAML does not allow. A tab inside a text of JSON is
// written \t.
func tabless(data []byte) []byte {
	out := slices.Clone(data)
	for i, c := range out {
		if c == '\t' {
			out[i] = ' '
		}
	}
	return out
}

func (m *model) jsonGroup(d *yamlDoc, kv yamlPair) error {
	g := m.group(kv.key, kv.at)
	n := real(kv.val)
	if n.Kind == yaml.SequenceNode {
		return m.jsonHosts(d, g, n)
	}
	if isNull(n) {
		return nil
	}
	parts, err := d.pairs(n, 1)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(parts, func(p yamlPair) bool { return p.key == "hosts" || p.key == "vars" || p.key == "children" }) {
		// The old short form: a host of the group's name, and its variables.
		for _, p := range parts {
			m.setGroup(g, p.key, d.value(p.val))
		}
		return m.fill([]string{kv.key}, "", g, nil, kv.at)
	}
	for _, p := range parts {
		switch p.key {
		case "hosts":
			err = m.jsonHosts(d, g, real(p.val))
		case "vars":
			var vars []yamlPair
			if vars, err = d.pairs(p.val, 2); err != nil {
				return err
			}
			for _, v := range vars {
				m.setGroup(g, v.key, d.value(v.val))
			}
		case "children":
			err = d.items(real(p.val), func(name string, at hosts.Pos) error { return m.child(g, m.group(name, at), at) })
		default:
			m.add(p.at, "%q in group %q is not one of hosts, vars and children", clip(p.key), clip(g.name))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (m *model) jsonHosts(d *yamlDoc, g *ansibleGroup, n *yaml.Node) error {
	return d.items(n, func(name string, at hosts.Pos) error { return m.fill([]string{name}, "", g, nil, at) })
}

// items calls f for each text of a list.
func (d *yamlDoc) items(n *yaml.Node, f func(text string, at hosts.Pos) error) error {
	if isNull(n) {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		return wrong(d.at(n), "expected a list here, as in [a, b]")
	}
	if *d.values += len(n.Content); *d.values > maxValues {
		return wrong(d.at(n), "more than %d values", maxValues)
	}
	for _, item := range n.Content {
		item = real(item)
		if item.Kind != yaml.ScalarNode || isNull(item) {
			return wrong(d.at(item), "expected a name here")
		}
		if err := f(item.Value, d.at(item)); err != nil {
			return err
		}
	}
	return nil
}

// jsonMeta reads the variables of hosts. Those of hosts that no group names are not used, as with Ansible.
func (m *model) jsonMeta(d *yamlDoc, n *yaml.Node) error {
	parts, err := d.pairs(n, 1)
	if err != nil {
		return err
	}
	for _, p := range parts {
		if p.key != "hostvars" {
			continue
		}
		all, err := d.pairs(p.val, 2)
		if err != nil {
			return err
		}
		for _, one := range all {
			h := m.hosts[one.key]
			if h == nil {
				m.add(one.at, "variables of %q, which is in no group", clip(one.key))
				continue
			}
			vars, err := d.pairs(one.val, 3)
			if err != nil {
				return err
			}
			for _, v := range vars {
				m.setHost(h, v.key, d.value(v.val))
			}
		}
	}
	return nil
}

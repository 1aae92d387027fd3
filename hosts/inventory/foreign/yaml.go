package foreign

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
	"github.com/fairlead-ssh/fairlead/hosts/strictyaml"
)

// yamlDoc reads one YAML file of Ansible's, which may hold anchors, aliases, merges and tags.
type yamlDoc struct {
	file    string
	values  *int // counts against the limit of the source
	printed bool // a program printed it: its lines are nothing that a person could look at

	twice func(key string, at hosts.Pos) // hears of keys that are in one mapping twice; nil does not
}

func (d *yamlDoc) at(n *yaml.Node) hosts.Pos {
	if d.printed {
		return hosts.Pos{File: d.file}
	}
	return hosts.Pos{File: d.file, Line: max(1, n.Line)}
}

// root returns the one value of the file; nil is an empty file.
func (d *yamlDoc) root(data []byte) (*yaml.Node, error) {
	root, problem := strictyaml.Decode(data, "a file of Ansible's")
	if problem != nil && d.printed {
		problem.Msg = strings.Replace(problem.Msg, "not valid YAML", "not valid JSON", 1)
	}
	if problem != nil {
		return nil, wrong(hosts.Pos{File: d.file, Line: problem.Line}, "%s", problem.Msg)
	}
	if root == nil || isNull(root) {
		return nil, nil
	}
	return root, nil
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.Tag == "!!null" }

// real follows an alias.
func real(n *yaml.Node) *yaml.Node {
	for i := 0; n.Kind == yaml.AliasNode && n.Alias != nil && i < maxDepth; i++ {
		n = n.Alias
	}
	return n
}

type yamlPair struct {
	key      string
	at       hosts.Pos
	val      *yaml.Node
	explicit bool // the key is a text, and not a number
}

// pairs returns the pairs of a mapping, merges first. Of a key that is there twice the last one counts, whole: what the one before
// it holds is not there for Ansible.
func (d *yamlDoc) pairs(n *yaml.Node, depth int) ([]yamlPair, error) {
	if n = real(n); n.Kind != yaml.MappingNode {
		return nil, wrong(d.at(n), "expected a mapping here")
	}
	if depth > maxDepth {
		return nil, wrong(d.at(n), "more than %d levels of lists and mappings", maxDepth)
	}
	var out []yamlPair
	for i := 0; i+1 < len(n.Content); i += 2 {
		if k := n.Content[i]; k.Tag == "!!merge" {
			merged := []*yaml.Node{n.Content[i+1]}
			if list := real(n.Content[i+1]); list.Kind == yaml.SequenceNode {
				merged = nil
				for j := len(list.Content) - 1; j >= 0; j-- { // the first one wins
					merged = append(merged, list.Content[j])
				}
			}
			for _, one := range merged {
				more, err := d.pairs(one, depth+1)
				if err != nil {
					return nil, err
				}
				out = append(out, more...)
			}
		}
	}
	own := make(map[string]bool, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := real(n.Content[i])
		if n.Content[i].Tag == "!!merge" {
			continue
		}
		if k.Kind != yaml.ScalarNode {
			return nil, wrong(d.at(k), "a key must be a word")
		}
		one := yamlPair{k.Value, d.at(k), n.Content[i+1], k.Tag == "!!str"}
		if own[one.key] && d.twice != nil {
			d.twice(one.key, one.at)
		}
		own[one.key] = true
		out = append(out, one)
	}
	out = lastOfEach(out)
	if *d.values += len(out); *d.values > maxValues {
		return nil, wrong(d.at(n), "more than %d values", maxValues)
	}
	return out, nil
}

// lastOfEach leaves out pairs whose key comes again.
func lastOfEach(all []yamlPair) []yamlPair {
	last := make(map[string]int, len(all))
	for i, kv := range all {
		last[kv.key] = i
	}
	if len(last) == len(all) {
		return all
	}
	out := all[:0]
	for i, kv := range all {
		if last[kv.key] == i {
			out = append(out, kv)
		}
	}
	return out
}

// value reads a variable's.
func (d *yamlDoc) value(n *yaml.Node) value {
	v := value{pos: d.at(n)}
	n = real(n)
	switch {
	case n.Tag == "!vault" || n.Tag == "!vault-encrypted":
		v.kind = vaultValue
	case n.Kind != yaml.ScalarNode:
		v.kind = otherValue
	case isNull(n):
		v.kind = nullValue
	default:
		v.text = n.Value
		if n.Style == 0 || n.Tag == "!!int" { // in no quotes
			v.text = scalar(n.Value)
		}
	}
	return v
}

// yamlFloat is a number with a point in YAML 1.1.
var yamlFloat = lazyregexp.New(`^[-+]?[0-9][0-9_]*\.[0-9_]*([eE][-+][0-9]+)?$`)

// scalar returns what Ansible's playbooks get of a text in no quotes: a truth value or a number is written as Python writes it.
func scalar(text string) string {
	switch text {
	case "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON":
		return "True"
	case "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF":
		return "False"
	}
	if yamlFloat.MatchString(text) {
		return pythonFloat(text)
	}
	if rest, ok := strings.CutPrefix(text, "+"); ok && rest != "" && strings.Trim(rest, "0123456789_") == "" && rest[0] != '_' {
		return decimal(rest)
	}
	return decimal(text)
}

// decimal returns a number of YAML 1.1, which Ansible reads, in decimal: 0x16, 022 and 2_200. Every other text stays as it is.
func decimal(text string) string {
	if text == "" || strings.Trim(text, "0123456789abcdefABCDEFxX_") != "" || text[0] == '_' {
		return text
	}
	if strings.Trim(text, "123456789") == "" { // most are
		return text
	}
	if n, err := strconv.ParseUint(strings.ReplaceAll(text, "_", ""), 0, 63); err == nil && !strings.HasPrefix(text, "0o") && !strings.HasPrefix(text, "0O") {
		return strconv.FormatUint(n, 10)
	}
	return text
}

// yaml reads an inventory in Ansible's YAML form into m.
func (m *model) yaml(file string, data []byte) error {
	d := &yamlDoc{file: file, values: &m.values, twice: m.notes.twice}
	root, err := d.root(data)
	if err != nil {
		return err
	}
	if root == nil {
		return wrong(hosts.Pos{File: file, Line: 1}, "the file is empty")
	}
	top, err := d.pairs(root, 0)
	if err != nil {
		return err
	}
	for _, kv := range top {
		if kv.key == "plugin" {
			return wrong(kv.at, "this configures a plugin of Ansible's, which Fairlead does not run: let a program print the hosts, "+
				"as in sources: [{exec: [ansible-inventory, -i, %s, --list]}]", clip(m.root))
		}
	}
	for _, kv := range top {
		if _, err := m.yamlGroup(d, kv, 0); err != nil {
			return err
		}
	}
	return nil
}

// twice notes a key that is in one mapping twice.
func (n *notes) twice(key string, at hosts.Pos) {
	n.add(at, "%q is there twice: this one counts, and the one before it does not", clip(key))
}

func (m *model) yamlGroup(d *yamlDoc, kv yamlPair, depth int) (*ansibleGroup, error) {
	if depth > maxDepth {
		return nil, wrong(kv.at, "more than %d levels of groups", maxDepth)
	}
	n := real(kv.val)
	if !isNull(n) && n.Kind != yaml.MappingNode {
		m.add(kv.at, "%q is not a group: it is not a mapping", clip(kv.key))
		return nil, nil
	}
	g := m.group(kv.key, kv.at)
	if isNull(n) {
		return g, nil
	}
	sections, err := d.pairs(n, depth)
	if err != nil {
		return nil, err
	}
	for _, s := range sections {
		if err := m.yamlSection(d, g, s, depth); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// yamlSection reads the hosts, the variables or the children of a group.
func (m *model) yamlSection(d *yamlDoc, g *ansibleGroup, s yamlPair, depth int) error {
	n := real(s.val)
	switch {
	case s.key != "hosts" && s.key != "vars" && s.key != "children":
		m.add(s.at, "%q in group %q is not one of hosts, vars and children", clip(s.key), clip(g.name))
		return nil
	case isNull(n):
		return nil
	}
	var list []yamlPair
	if n.Kind == yaml.ScalarNode && n.Tag == "!!str" {
		list = []yamlPair{{key: n.Value, at: d.at(n), val: &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Line: n.Line}, explicit: true}}
	} else {
		if n.Kind != yaml.MappingNode {
			return wrong(s.at, "%s of group %q must be a mapping, as in {%s: {NAME: …}}", s.key, clip(g.name), s.key)
		}
		var err error
		if list, err = d.pairs(n, depth+1); err != nil {
			return err
		}
	}
	for _, kv := range list {
		switch s.key {
		case "vars":
			m.setGroup(g, kv.key, d.value(kv.val))
		case "children":
			child, err := m.yamlGroup(d, kv, depth+2)
			if err != nil {
				return err
			}
			if child != nil {
				if err := m.child(g, child, kv.at); err != nil {
					return err
				}
			}
		case "hosts":
			if err := m.yamlHost(d, g, kv, depth); err != nil {
				return err
			}
		}
	}
	return nil
}

func (m *model) yamlHost(d *yamlDoc, g *ansibleGroup, kv yamlPair, depth int) error {
	if !kv.explicit {
		return wrong(kv.at, "the host %s is not a text: put it in quotes", clip(kv.key))
	}
	names, port, err := m.pattern(kv.key, kv.at)
	if err != nil {
		return err
	}
	set := variables{}
	if n := real(kv.val); !isNull(n) && (n.Kind != yaml.ScalarNode || strings.TrimSpace(n.Value) != "") {
		vars, err := d.pairs(n, depth+2)
		if err != nil {
			return err
		}
		for _, v := range vars {
			set[v.key] = d.value(v.val)
		}
	}
	return m.fill(names, port, g, set, kv.at)
}

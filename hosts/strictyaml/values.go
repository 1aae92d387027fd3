package strictyaml

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Fields returns the values of a mapping by key. Keys that are not known are mistakes; where is what to call the mapping.
func (p *Problems) Fields(n *yaml.Node, where string, known ...string) map[string]*yaml.Node {
	if n.Kind != yaml.MappingNode {
		p.Add(n.Line, "%s: expected a mapping, as in {%s: …}", where, known[0])
		return nil
	}
	out := make(map[string]*yaml.Node, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if !slices.Contains(known, k.Value) {
			p.Add(k.Line, "unknown key %q in %s; known: %s", Clip(k.Value), where, strings.Join(known, ", "))
			continue
		}
		out[k.Value] = n.Content[i+1]
	}
	return out
}

// Scalar returns the text of a single value; where is what to call it. One that is missing, or empty, is a mistake.
func (p *Problems) Scalar(n *yaml.Node, where string) (string, bool) {
	switch {
	case n.Kind != yaml.ScalarNode:
		p.Add(n.Line, "%s: expected a single value", where)
	case n.Tag == "!!null" || n.Value == "":
		p.Add(n.Line, "%s: a value is missing", where)
	default:
		return n.Value, true
	}
	return "", false
}

// Texts calls f for each text of a list that is not empty.
func (p *Problems) Texts(n *yaml.Node, where string, f func(line int, text string)) {
	if n.Kind != yaml.SequenceNode {
		p.Add(n.Line, "%s: expected a list, as in [a, b]", where)
		return
	}
	if len(n.Content) == 0 {
		p.Add(n.Line, "%s: the list is empty; leave the key out", where)
	}
	for _, c := range n.Content {
		if s, ok := p.Scalar(c, where); ok {
			f(c.Line, s)
		}
	}
}

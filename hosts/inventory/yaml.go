package inventory

import (
	"go.yaml.in/yaml/v3"

	"github.com/fairlead-ssh/fairlead/hosts/strictyaml"
)

func (b *builder) yaml(data []byte) (*node, error) {
	root, wrong := strictyaml.Decode(data, "an inventory")
	switch {
	case wrong != nil:
		return nil, b.fail(wrong.Line, "%s", wrong.Msg)
	case root == nil:
		return nil, b.fail(1, "the file holds comments only; an inventory begins with version: 1")
	}
	return b.fromYAML(root, 0)
}

func (b *builder) fromYAML(y *yaml.Node, depth int) (*node, error) {
	line := y.Line
	switch {
	case y.Kind == yaml.AliasNode && y.Alias != nil:
		return b.fromYAML(y.Alias, depth+1) // an alias that holds itself runs into the limit on depth
	case y.Style&yaml.TaggedStyle != 0:
		return nil, b.fail(line, "tags such as %s are not supported", clip(y.Tag))
	}
	k := scalar
	switch {
	case y.Kind == yaml.SequenceNode:
		k = list
	case y.Kind == yaml.MappingNode:
		k = mapping
	case y.Tag == "!!null":
		k = null
	}
	n, err := b.node(k, line, depth)
	if err != nil {
		return nil, err
	}
	switch k {
	case scalar:
		n.text = y.Value
	case list:
		for _, c := range y.Content {
			item, err := b.fromYAML(c, depth+1)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, item)
		}
	case mapping:
		for i := 0; i+1 < len(y.Content); i += 2 {
			key := y.Content[i]
			switch {
			case key.Kind != yaml.ScalarNode:
				return nil, b.fail(key.Line, "a key must be a word")
			case key.Tag == "!!merge":
				return nil, b.fail(key.Line, "<< is not supported: share fields through groups or defaults")
			}
			val, err := b.fromYAML(y.Content[i+1], depth+1)
			if err != nil {
				return nil, err
			}
			if err := b.put(n, key.Value, key.Line, val); err != nil {
				return nil, err
			}
		}
	}
	return n, nil
}

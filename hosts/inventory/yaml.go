package inventory

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

func (b *builder) yaml(data []byte) (*node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, b.fail(1, "the file holds comments only; an inventory begins with version: 1")
	case err != nil:
		return nil, b.yamlError(data, err)
	}
	switch err := dec.Decode(&second); {
	case err == nil:
		return nil, b.fail(second.Line, "a second document begins here; an inventory is one")
	case !errors.Is(err, io.EOF):
		return nil, b.yamlError(data, err)
	}
	return b.fromYAML(&doc, 0)
}

func (b *builder) fromYAML(y *yaml.Node, depth int) (*node, error) {
	line := y.Line
	switch {
	case y.Kind == yaml.DocumentNode && len(y.Content) == 1:
		return b.fromYAML(y.Content[0], depth)
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

var (
	yamlLine   = regexp.MustCompile(`^line (\d+): `)
	yamlAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced$`)
)

// yamlError turns an error of the library into one with a position. The library counts lines from 0 where its parser
// complains ("did not find …") and from 1 where its scanner does; it leaves the line out if that is 0, and for anchors.
func (b *builder) yamlError(data []byte, err error) error {
	msg, line := strings.TrimPrefix(err.Error(), "yaml: "), 1
	if m := yamlLine.FindStringSubmatch(msg); m != nil {
		line, _ = strconv.Atoi(m[1])
		if msg = msg[len(m[0]):]; strings.HasPrefix(msg, "did not find") {
			line++
		}
	} else if m := yamlAnchor.FindStringSubmatch(msg); m != nil {
		line = b.line(bytes.Index(data, []byte("*"+m[1])))
	}
	if strings.Contains(msg, "a tab character") { // it names the line before
		for line < len(b.starts) && !bytes.HasPrefix(bytes.TrimLeft(data[b.starts[line-1]:], " "), []byte("\t")) {
			line++
		}
		line++
	}
	return b.fail(min(line, b.line(len(data))), "not valid YAML: %s", clip(strings.ReplaceAll(msg, "\n", " ")))
}

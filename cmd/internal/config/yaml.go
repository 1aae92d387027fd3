package config

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// document reads the one mapping that a file is; nil where it says nothing, or is wrong, which is noted.
func (p *problems) document(data []byte) *yaml.Node {
	switch {
	case len(data) > maxFile:
		p.add(1, "the file has more than %d bytes", maxFile)
		return nil
	case !utf8.Valid(data):
		p.add(1, "the file is not UTF-8")
		return nil
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		p.syntax(err)
		return nil
	}
	switch err := dec.Decode(&second); {
	case err == nil:
		p.add(second.Line, "a second document begins here; settings are one")
		return nil
	case !errors.Is(err, io.EOF):
		p.syntax(err)
		return nil
	}
	if !p.plain(doc.Content[0], 0) {
		return nil
	}
	return doc.Content[0]
}

// plain refuses what settings do not need, anywhere in the file: anchors, aliases, tags, merges and keys that are there
// twice.
func (p *problems) plain(n *yaml.Node, depth int) bool {
	before := len(p.errs)
	switch {
	case depth > maxDepth:
		p.add(n.Line, "more than %d levels of lists and mappings", maxDepth)
		return false
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		p.add(n.Line, "anchors and aliases are not supported")
		return false
	case n.Style&yaml.TaggedStyle != 0:
		p.add(n.Line, "tags such as %s are not supported", clip(n.Tag))
	}
	if n.Kind == yaml.MappingNode {
		seen := map[string]int{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			k := n.Content[i]
			switch first, twice := seen[k.Value]; {
			case k.Kind != yaml.ScalarNode || k.Tag == "!!merge":
				p.add(k.Line, "a key must be a word")
			case twice:
				p.add(k.Line, "%q is there twice; first on line %d", clip(k.Value), first)
			default:
				seen[k.Value] = k.Line
			}
		}
	}
	for _, c := range n.Content {
		p.plain(c, depth+1)
	}
	return len(p.errs) == before
}

var yamlLine = regexp.MustCompile(`^line (\d+): `)

func (p *problems) syntax(err error) {
	msg, line := strings.TrimPrefix(err.Error(), "yaml: "), 1
	if m := yamlLine.FindStringSubmatch(msg); m != nil {
		line, _ = strconv.Atoi(m[1])
		if msg = msg[len(m[0]):]; strings.HasPrefix(msg, "did not find") {
			line++ // the library's parser counts from 0, its scanner from 1
		}
	}
	p.add(line, "not valid YAML: %s", clip(msg))
}

// reader takes the value of a key; where is what to call it, "audit.rotate".
type reader func(p *problems, where string, n *yaml.Node)

// section gives the values of a mapping to the readers of their keys. Keys without one are mistakes.
func (p *problems) section(n *yaml.Node, where string, known map[string]reader) {
	what, prefix := "the file", ""
	if where != "" {
		what, prefix = where, where+"."
	}
	if n.Kind != yaml.MappingNode {
		p.add(n.Line, "%s: expected keys and values, as in “key: value”", what)
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		read := known[k.Value]
		if read == nil {
			p.add(k.Line, "unknown key %q in %s; known: %s", clip(k.Value), what, strings.Join(slices.Sorted(maps.Keys(known)), ", "))
			continue
		}
		read(p, prefix+k.Value, n.Content[i+1])
	}
}

// scalar returns the text of a single value. One that is missing, or empty, is a mistake.
func (p *problems) scalar(where string, n *yaml.Node) (string, bool) {
	switch {
	case n.Kind != yaml.ScalarNode:
		p.add(n.Line, "%s: expected a single value", where)
	case n.Tag == "!!null" || n.Value == "":
		p.add(n.Line, "%s: a value is missing", where)
	default:
		return n.Value, true
	}
	return "", false
}

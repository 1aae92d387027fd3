package rules

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

const (
	maxFile  = 1 << 20 // bytes of a file
	maxDepth = 16      // lists and mappings in each other
)

// document reads the one mapping that a file is, or notes what is wrong and returns nil.
func (p *problems) document(data []byte) *yaml.Node {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if len(data) > maxFile {
		p.add(1, "the file has %d bytes, more than %d", len(data), maxFile)
		return nil
	}
	if !p.text(data) {
		return nil
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		p.add(1, "the file says nothing; a policy begins with version: 1")
		return nil
	case err != nil:
		p.syntax(err)
		return nil
	}
	switch err := dec.Decode(&second); {
	case err == nil:
		p.add(second.Line, "a second document begins here; a policy is one")
		return nil
	case !errors.Is(err, io.EOF):
		p.syntax(err)
		return nil
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		p.add(doc.Line, "a policy is a mapping that begins with version: 1")
		return nil
	}
	if !p.plain(doc.Content[0], 0) {
		return nil
	}
	return doc.Content[0]
}

// text refuses what a reader of the file would not see as it is.
func (p *problems) text(data []byte) bool {
	line := 1
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			p.add(line, "the file is not UTF-8")
			return false
		case r == '\n':
			line++
		case r == '\t' || r == '\r':
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			p.add(line, "the file holds the character %U, which cannot be seen", r)
			return false
		}
		i += n
	}
	return true
}

// plain refuses what policies do not need, anywhere in the file: anchors, aliases, tags, merges and keys that are there
// twice.
func (p *problems) plain(n *yaml.Node, depth int) bool {
	before := len(p.errs)
	switch {
	case depth > maxDepth:
		p.add(n.Line, "more than %d levels of lists and mappings", maxDepth)
		return false
	case n.Kind == yaml.AliasNode || n.Anchor != "":
		p.add(n.Line, "anchors and aliases are not supported")
	case n.Style&yaml.TaggedStyle != 0:
		p.add(n.Line, "tags such as %s are not supported", clip(n.Tag))
	}
	if n.Kind == yaml.MappingNode {
		seen := map[string]int{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			k := n.Content[i]
			switch first, twice := seen[k.Value]; {
			case k.Kind != yaml.ScalarNode:
				p.add(k.Line, "a key must be a word")
			case k.Tag == "!!merge":
				p.add(k.Line, "<< is not supported")
			case twice:
				p.add(k.Line, "%q is there twice; first on line %d", clip(k.Value), first)
			default:
				seen[k.Value] = k.Line
			}
		}
	}
	for _, c := range n.Content {
		if c.Kind != yaml.AliasNode {
			p.plain(c, depth+1)
		} else {
			p.add(c.Line, "anchors and aliases are not supported")
		}
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
	p.add(line, "not valid YAML: %s", clip(strings.ReplaceAll(msg, "\n", " ")))
}

// fields returns the values of a mapping by key. Keys that are not known are mistakes.
func (p *problems) fields(n *yaml.Node, where string, known ...string) map[string]*yaml.Node {
	if n.Kind != yaml.MappingNode {
		p.add(n.Line, "%s: expected a mapping, as in {%s: …}", where, known[0])
		return nil
	}
	out := make(map[string]*yaml.Node, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		if !slices.Contains(known, k.Value) {
			p.add(k.Line, "unknown key %q in %s; known: %s", clip(k.Value), where, strings.Join(known, ", "))
			continue
		}
		out[k.Value] = n.Content[i+1]
	}
	return out
}

// scalar returns the text of a single value. A value that is missing is a mistake, and so is an empty one.
func (p *problems) scalar(n *yaml.Node, key string) (string, bool) {
	switch {
	case n.Kind != yaml.ScalarNode:
		p.add(n.Line, "%s: expected a single value", key)
	case n.Tag == "!!null" || n.Value == "":
		p.add(n.Line, "%s: a value is missing", key)
	default:
		return n.Value, true
	}
	return "", false
}

// list calls f for each text of a list that is not empty.
func (p *problems) list(n *yaml.Node, key string, f func(line int, text string)) {
	if n.Kind != yaml.SequenceNode {
		p.add(n.Line, "%s: expected a list, as in [a, b]", key)
		return
	}
	if len(n.Content) == 0 {
		p.add(n.Line, "%s: the list is empty; leave the key out", key)
	}
	for _, c := range n.Content {
		if s, ok := p.scalar(c, key); ok {
			f(c.Line, s)
		}
	}
}

package inventory

import (
	"bytes"
	"fmt"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/internal/near"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
)

const (
	maxFile  = 16 << 20  // bytes of a file
	maxNodes = 1_000_000 // values in it, aliases followed
	maxDepth = 32        // lists and mappings in each other
)

type kind int

const (
	null kind = iota
	scalar
	list
	mapping
)

func (k kind) String() string {
	return [...]string{"nothing", "a single value", "a list", "a mapping"}[k]
}

// node is one value of a file, whatever the format, with the place it stands at. Scalars keep the text they were written
// with, so that no format's idea of numbers or truth comes in between.
type node struct {
	kind  kind
	text  string
	items []*node
	pairs []pair
	pos   hosts.Pos
}

type pair struct {
	key string
	pos hosts.Pos
	val *node
}

// get returns the value of key in a mapping, or nil.
func (n *node) get(key string) *node {
	if n == nil {
		return nil
	}
	for _, p := range n.pairs {
		if p.key == key {
			return p.val
		}
	}
	return nil
}

// builder counts what a file holds, for the limits that all formats share.
type builder struct {
	file   string
	nodes  int
	starts []int // offsets at which lines begin, from the second on
}

func (b *builder) at(line int) hosts.Pos { return hosts.Pos{File: b.file, Line: max(1, line)} }

func (b *builder) fail(line int, format string, args ...any) error {
	return &hosts.ParseError{Pos: b.at(line), Msg: fmt.Sprintf(format, args...)}
}

func (b *builder) node(k kind, line, depth int) (*node, error) {
	if b.nodes++; b.nodes > maxNodes {
		return nil, b.fail(line, "more than %d values", maxNodes)
	}
	if depth > maxDepth {
		return nil, b.fail(line, "more than %d levels of lists and mappings", maxDepth)
	}
	return &node{kind: k, pos: b.at(line)}, nil
}

// put adds a pair to a mapping; a key that is there already is an error.
func (b *builder) put(n *node, key string, line int, val *node) error {
	for _, p := range n.pairs {
		if p.key == key {
			return b.fail(line, "%q is there twice; first on line %d", key, p.pos.Line)
		}
	}
	if len(n.pairs) >= 256 {
		return b.fail(line, "more than %d keys in one mapping", 256)
	}
	n.pairs = append(n.pairs, pair{key, b.at(line), val})
	return nil
}

// parseTree reads data in one of the formats.
func parseTree(data []byte, file, format string) (*node, error) {
	b := &builder{file: file}
	if len(data) > maxFile {
		return nil, b.fail(1, "the file has %d bytes, more than %d", len(data), maxFile)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if err := b.checkText(data); err != nil {
		return nil, err
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, b.fail(1, "the file is empty; an inventory begins with version: 1")
	}
	var (
		root *node
		err  error
	)
	switch format {
	case "yaml":
		root, err = b.yaml(data)
	case "json":
		root, err = b.json(data)
	case "toml":
		root, err = b.toml(data)
	default:
		return nil, b.fail(1, "unknown format %q: yaml, toml and json are known", format)
	}
	if err != nil {
		return nil, err
	}
	if root.kind != mapping {
		return nil, &hosts.ParseError{Pos: root.pos, Msg: "an inventory is a mapping that begins with version: 1, not " + root.kind.String()}
	}
	return root, nil
}

// checkText refuses what none of the formats allows, for the sake of one message with a line, and notes where lines begin.
func (b *builder) checkText(data []byte) error {
	line := 1
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			return b.fail(line, "the file is not UTF-8")
		case r == '\n':
			line++
			b.starts = append(b.starts, i+1)
		case r == '\t', r == '\r':
		case unicode.IsControl(r), r == '\ufeff', r == '\ufffe', r == '\uffff':
			return b.fail(line, "the file holds the control character %U", r)
		}
		i += n
	}
	return nil
}

// line returns the line of the byte at offset.
func (b *builder) line(offset int) int {
	i, found := slices.BinarySearch(b.starts, offset)
	if found {
		i++
	}
	return i + 1
}

// onlyKeys reports the keys of a mapping that are none of known.
func (n *node) onlyKeys(p *problems, where string, known []string) {
	for _, kv := range n.pairs {
		if !slices.Contains(known, kv.key) {
			p.add(kv.pos, "unknown key %q %s%s", clip(kv.key), where, near.Hint(meant(kv.key, known)))
		}
	}
}

// clip shortens what a message quotes.
func clip(s string) string { return printable.Clip(s, 80) }

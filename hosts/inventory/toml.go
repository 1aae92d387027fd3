package inventory

import (
	"errors"
	"sort"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// toml reads data twice: once with the ordinary decoder, which knows the rules about tables that are there twice, and
// once expression by expression, for the lines.
func (b *builder) toml(data []byte) (*node, error) {
	if err := b.checkDepth(data); err != nil {
		return nil, err
	}
	var whole map[string]any
	if err := toml.Unmarshal(data, &whole); err != nil {
		return nil, b.fail(min(b.tomlLine(data, err), b.line(len(data))),
			"not valid TOML: %s", clip(strings.TrimPrefix(err.Error(), "toml: ")))
	}
	r := &tomlReader{builder: b}
	r.parser.Reset(data)
	root, err := b.node(mapping, 1, 0)
	if err != nil {
		return nil, err
	}
	table := root
	for r.parser.NextExpression() {
		switch e := r.parser.Expression(); e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table, err = r.table(root, e)
		case unstable.KeyValue:
			err = r.keyValue(table, e, 0)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := r.parser.Error(); err != nil {
		return nil, b.fail(1, "not valid TOML: %s", clip(err.Error()))
	}
	return root, nil
}

// tomlLine returns the line of an error of the decoder. Errors of syntax bring theirs. Contradictions, such as a key that
// is there twice, do not: but the decoder goes from top to bottom, so the line is the first one without which the file
// has no contradiction.
func (b *builder) tomlLine(data []byte, err error) int {
	var syntax *toml.DecodeError
	if errors.As(err, &syntax) {
		line, _ := syntax.Position()
		return line
	}
	return 1 + sort.Search(len(b.starts), func(i int) bool {
		var part map[string]any
		err := toml.Unmarshal(data[:b.starts[i]], &part)
		return err != nil && !errors.As(err, &syntax)
	})
}

type tomlReader struct {
	*builder
	parser unstable.Parser
}

// place returns where n stands; values without a place of their own stand where the key does.
func (r *tomlReader) place(n *unstable.Node, otherwise int) int {
	switch {
	case n.Raw.Length > 0:
		return r.line(int(n.Raw.Offset))
	case n.Kind == unstable.Bool && len(n.Data) > 0:
		return r.line(int(r.parser.Range(n.Data).Offset))
	case n.Kind == unstable.Array && n.Child() != nil:
		return min(otherwise, r.place(n.Child(), otherwise))
	}
	return otherwise
}

// table returns the mapping that a [header] or a [[header]] opens.
func (r *tomlReader) table(root *node, e *unstable.Node) (*node, error) {
	n, depth := root, 0
	keys := e.Key()
	for keys.Next() {
		key := keys.Node()
		line := r.place(key, 1)
		next, err := r.descend(n, string(key.Data), line, depth+1)
		if err != nil {
			return nil, err
		}
		if keys.IsLast() && e.Kind == unstable.ArrayTable {
			if next.kind == mapping && len(next.pairs) == 0 && len(next.items) == 0 {
				next.kind = list
			}
			item, err := r.node(mapping, line, depth+2)
			if err != nil {
				return nil, err
			}
			next.items = append(next.items, item)
			return item, nil
		}
		if next.kind == list && len(next.items) > 0 { // a table below [[x]] belongs to the last x
			next = next.items[len(next.items)-1]
		}
		n, depth = next, depth+1
	}
	return n, nil
}

// descend returns the mapping or list under key, making a mapping if there is none.
func (r *tomlReader) descend(n *node, key string, line, depth int) (*node, error) {
	if next := n.get(key); next != nil {
		return next, nil
	}
	next, err := r.node(mapping, line, depth)
	if err != nil {
		return nil, err
	}
	return next, r.put(n, key, line, next)
}

// keyValue adds a key, dotted or not, with its value to table.
func (r *tomlReader) keyValue(table *node, e *unstable.Node, depth int) error {
	keys := e.Key()
	for keys.Next() {
		key := keys.Node()
		line := r.place(key, table.pos.Line)
		depth++
		if !keys.IsLast() {
			next, err := r.descend(table, string(key.Data), line, depth)
			if err != nil {
				return err
			}
			table = next
			continue
		}
		val, err := r.value(e.Value(), line, depth)
		if err != nil {
			return err
		}
		return r.put(table, string(key.Data), line, val)
	}
	return nil
}

func (r *tomlReader) value(v *unstable.Node, keyLine, depth int) (*node, error) {
	line := r.place(v, keyLine)
	n, err := r.node(scalar, line, depth)
	if err != nil {
		return nil, err
	}
	switch v.Kind {
	case unstable.Array:
		n.kind = list
		for items := v.Children(); items.Next(); {
			item, err := r.value(items.Node(), line, depth+1)
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, item)
		}
	case unstable.InlineTable:
		n.kind = mapping
		for pairs := v.Children(); pairs.Next(); {
			if err := r.keyValue(n, pairs.Node(), depth); err != nil {
				return nil, err
			}
		}
	default:
		n.text = string(v.Data)
	}
	return n, nil
}

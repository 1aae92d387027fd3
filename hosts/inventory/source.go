package inventory

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/viper"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/internal/near"
)

// source is a file together with what overrides it.
type source struct {
	v    *viper.Viper
	root *node // the file alone, for what must be checked key by key
}

// separator keeps Viper from splitting keys: no key of a file can hold it.
const separator = "\x00"

// readSource reads a file into a Viper of its own and lays the environment over its defaults. The decoder hands Viper
// whole values with their positions, so that what Viper does to keys (it folds them to lower case and splits them at
// dots) cannot reach the names, labels and variables inside.
func readSource(p *problems, data []byte, file, format string, environ []string) (*source, error) {
	dec := &decoder{file: file, format: format}
	v := viper.NewWithOptions(viper.KeyDelimiter(separator), viper.WithDecoderRegistry(dec))
	v.SetConfigType(format)
	if err := v.ReadConfig(bytes.NewReader(data)); err != nil {
		var pe *hosts.ParseError
		if errors.As(err, &pe) {
			return nil, pe
		}
		return nil, &hosts.ParseError{Pos: hosts.Pos{File: file, Line: 1}, Msg: "cannot be read", Err: err}
	}
	override(p, v, environ)
	return &source{v, dec.root}, nil
}

// section returns a top-level value, or nil.
func (s *source) section(name string) *node {
	n, _ := s.v.Get(name).(*node)
	return n
}

// defaults returns the mapping of defaults, overrides included, in the order of the fields.
func (s *source) defaults() *node {
	out := &node{kind: mapping, pos: s.root.pos}
	for _, f := range fields {
		if n, ok := s.v.Get("defaults" + separator + f.name).(*node); ok {
			out.pairs = append(out.pairs, pair{f.name, n.pos, n})
		}
	}
	return out
}

// decoder is the format Viper is told to use. It keeps the tree.
type decoder struct {
	file, format string
	root         *node
}

// Decoder implements viper.DecoderRegistry.
func (d *decoder) Decoder(string) (viper.Decoder, error) { return d, nil }

// Decode implements viper.Decoder: top-level values stay whole, but for the defaults, which are one value per field.
func (d *decoder) Decode(data []byte, into map[string]any) error {
	root, err := parseTree(data, d.file, d.format)
	if err != nil {
		return err
	}
	d.root = root
	for _, kv := range root.pairs {
		into[kv.key] = kv.val
		if kv.key == "defaults" && kv.val.kind == mapping {
			defaults := map[string]any{}
			for _, kv := range kv.val.pairs {
				defaults[kv.key] = kv.val
			}
			into[kv.key] = defaults
		}
	}
	return nil
}

const prefix = "FAIRLEAD_DEFAULTS_"

// override lays the variables of environ over the defaults in v.
func override(p *problems, v *viper.Viper, environ []string) {
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		suffix, ours := strings.CutPrefix(name, prefix)
		if !ours || value == "" {
			continue
		}
		pos := hosts.Pos{File: "$" + name}
		i := slices.IndexFunc(fields, func(f field) bool { return strings.ToUpper(f.name) == suffix })
		if i < 0 {
			known := make([]string, len(fields))
			for i, f := range fields {
				known[i] = strings.ToUpper(f.name)
			}
			p.add(pos, "%s is not a field of a host%s", clip(suffix), near.Hint(near.Find(suffix, slices.Values(known))))
			continue
		}
		if n := fromVariable(p, pos, fields[i], value); n != nil {
			v.Set("defaults"+separator+fields[i].name, n)
		}
	}
}

// fromVariable turns the text of a variable into the value that a file would hold.
func fromVariable(p *problems, pos hosts.Pos, f field, value string) *node {
	switch {
	case strings.HasPrefix(value, "[") || strings.HasPrefix(value, "{"):
		b := &builder{file: pos.File}
		if err := b.checkText([]byte(value)); err != nil {
			p.add(pos, "the value is not plain text")
			return nil
		}
		n, err := b.yaml([]byte(value))
		if err != nil { // the library's text may quote the value, which can hold a secret
			p.add(pos, "the value begins like a list or mapping but is not valid YAML")
			return nil
		}
		n.move(pos)
		return n
	case f.structured:
		p.add(pos, "%s needs YAML: begin the value with [ or {", f.name)
		return nil
	case !f.list:
		return &node{kind: scalar, text: value, pos: pos}
	}
	n := &node{kind: list, pos: pos}
	for item := range strings.SplitSeq(value, ",") {
		n.items = append(n.items, &node{kind: scalar, text: strings.TrimSpace(item), pos: pos})
	}
	return n
}

// move gives a value, and all that is in it, another place.
func (n *node) move(pos hosts.Pos) {
	n.pos = pos
	for _, item := range n.items {
		item.move(pos)
	}
	for i := range n.pairs {
		n.pairs[i].pos = pos
		n.pairs[i].val.move(pos)
	}
}

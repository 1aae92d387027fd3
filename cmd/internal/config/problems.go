package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/fairlead-ssh/fairlead/hosts/strictyaml"
)

// Error is a mistake in the file.
type Error struct {
	File string
	Line int    // from 1
	Msg  string // what is wrong and what to do
}

// Error returns "config: config.yaml:12: what is wrong".
func (e *Error) Error() string { return fmt.Sprintf("config: %s:%d: %s", e.File, e.Line, e.Msg) }

// problems collects what is wrong with a file, to report it all at once.
type problems struct {
	strictyaml.Problems
	file string
}

// err returns all problems in the order of the file, or nil.
func (p *problems) err() error {
	var out []error
	for _, f := range p.Found() {
		out = append(out, &Error{p.file, f.Line, f.Msg})
	}
	return errors.Join(out...)
}

// reader takes the value of a key; where is what to call it, "audit.rotate".
type reader func(p *problems, where string, n *yaml.Node)

// section gives the values of a mapping to the readers of their keys. Keys without one are mistakes.
func (p *problems) section(n *yaml.Node, where string, known map[string]reader) {
	what, prefix := "the file", ""
	if where != "" {
		what, prefix = where, where+"."
	}
	fields := p.Fields(n, what, slices.Sorted(maps.Keys(known))...)
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		known[key](p, prefix+key, fields[key])
	}
}

// words reads a list of single values that is not empty.
func (p *problems) words(where string, n *yaml.Node) (all []string) {
	p.Texts(n, where, func(_ int, text string) { all = append(all, text) })
	return all
}

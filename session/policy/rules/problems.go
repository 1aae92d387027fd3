package rules

import (
	"errors"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/strictyaml"
)

// FileError is a mistake in a policy file.
type FileError struct {
	Pos hosts.Pos
	Msg string // what is wrong and what to do, without the position
}

// Error returns "rules: policy.yaml:12: what is wrong".
func (e *FileError) Error() string { return "rules: " + e.Pos.String() + ": " + e.Msg }

// problems collects what is wrong with a file, to report it all at once.
type problems struct {
	strictyaml.Problems
	file string
}

// err returns all problems in the order of the file, or nil.
func (p *problems) err() error {
	var out []error
	for _, f := range p.Found() {
		out = append(out, &FileError{Pos: hosts.Pos{File: p.file, Line: f.Line}, Msg: f.Msg})
	}
	return errors.Join(out...)
}

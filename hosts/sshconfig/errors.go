package sshconfig

import (
	"errors"
	"fmt"

	"github.com/fairlead-ssh/fairlead/hosts"
)

// ErrBadName is wrapped by errors about a host or user name that is refused whatever the configuration says: empty,
// starting with "-", or holding spaces, quotes or control characters.
var ErrBadName = errors.New("refused name")

// Error is a problem at a place in a configuration file. Load, Open and Resolve join all they find.
type Error struct {
	Pos hosts.Pos
	Msg string
	Err error // cause; may be nil
}

// Error returns "sshconfig: file:line: what is wrong".
func (e *Error) Error() string { return "sshconfig: " + e.text() }

// text is the error without the package's name, which stands once in front of a chain of places.
func (e *Error) text() string {
	s := e.Pos.String() + ": " + e.Msg
	switch cause := e.Err.(type) {
	case nil:
		return s
	case *Error:
		return s + ": " + cause.text()
	default:
		return s + ": " + cause.Error()
	}
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func errorAt(p hosts.Pos, format string, args ...any) *Error {
	return &Error{Pos: p, Msg: fmt.Sprintf(format, args...)}
}

// maxErrors bounds how many problems are collected: a file of the wrong kind would give one per line.
const maxErrors = 20

// problems collects errors up to maxErrors.
type problems struct{ list []error }

func (p *problems) add(err error) {
	if err != nil && len(p.list) < maxErrors {
		p.list = append(p.list, err)
	}
}

func (p *problems) err() error { return errors.Join(p.list...) }

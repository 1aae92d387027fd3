package hosts

import (
	"errors"
	"fmt"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts/internal/near"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
)

var (
	// ErrNotFound is wrapped when a name, or a group, stands for nothing in the inventory.
	ErrNotFound = errors.New("hosts: no such host")
	// ErrNoMatch is wrapped when a selector picks nothing. That is never a success: it is what a typo looks like.
	ErrNoMatch = errors.New("hosts: selector matches no host")
)

// ParseError is a problem at a place: in a file, or in an expression.
type ParseError struct {
	Pos    Pos    // file and line; zero for an expression that came from no file
	Column int    // in the expression, in characters from 1; 0 means unknown
	Msg    string // what is wrong and what to do, without position or prefix
	Err    error  // optional cause
}

// Error returns "hosts: inventory.yaml:12: what is wrong", or "hosts: selector, column 4: what is wrong".
func (e *ParseError) Error() string {
	var b strings.Builder
	b.WriteString("hosts: ")
	if e.Pos.File != "" {
		b.WriteString(e.Pos.String() + ": ")
	}
	if e.Column > 0 {
		fmt.Fprintf(&b, "selector, column %d: ", e.Column)
	}
	b.WriteString(e.Msg)
	if e.Err != nil {
		if e.Msg != "" {
			b.WriteString(": ")
		}
		b.WriteString(strings.TrimPrefix(e.Err.Error(), "hosts: "))
	}
	return b.String()
}

// Unwrap returns the cause, if there is one.
func (e *ParseError) Unwrap() error { return e.Err }

// NoMatchError says why a selection came out empty or could not be made: it names things that do not exist, or it picks
// nothing. errors.Is reports it as [ErrNoMatch], and as [ErrNotFound] when it names something unknown.
type NoMatchError struct {
	Selector string   // canonical text; "" for a lookup by name
	Hosts    []string // names that no host has
	Groups   []string // names that no group has
	Labels   []string // labels that no host has, of [Inventory.CheckLabels] alone
	Near     []string // what may have been meant, closest first; may be empty
}

// Error names what is unknown, folded, and what may have been meant.
func (e *NoMatchError) Error() string {
	var what []string
	if len(e.Hosts) > 0 {
		what = append(what, "no host named "+shorten(Fold(e.Hosts)))
	}
	if len(e.Groups) > 0 {
		what = append(what, "no group named "+shorten(strings.Join(e.Groups, ", ")))
	}
	if len(e.Labels) > 0 {
		what = append(what, "no host with the label "+shorten(strings.Join(e.Labels, ", ")))
	}
	if len(what) == 0 {
		what = append(what, "selector "+shorten(e.Selector)+" matches no host")
	}
	return "hosts: " + strings.Join(what, ", and ") + near.Hint(e.Near)
}

// Is reports whether target is one of the two sentinels that this error stands for.
func (e *NoMatchError) Is(target error) bool {
	return target == ErrNoMatch || target == ErrNotFound && len(e.Hosts)+len(e.Groups)+len(e.Labels) > 0
}

// shorten keeps a message readable when the thing it quotes is long.
func shorten(s string) string { return printable.Clip(s, 200) }

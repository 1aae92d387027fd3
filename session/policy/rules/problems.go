package rules

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
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
	file string
	errs []*FileError
}

func (p *problems) add(line int, format string, args ...any) {
	p.errs = append(p.errs, &FileError{Pos: hosts.Pos{File: p.file, Line: max(1, line)}, Msg: printable(fmt.Sprintf(format, args...))})
}

// err returns all problems in the order of the file, or nil.
func (p *problems) err() error {
	slices.SortStableFunc(p.errs, func(a, b *FileError) int { return cmp.Compare(a.Pos.Line, b.Pos.Line) })
	out := make([]error, len(p.errs))
	for i, e := range p.errs {
		out[i] = e
	}
	return errors.Join(out...)
}

// printable writes what a terminal would obey, and the ends of lines, as Go does: a message quotes the file.
func printable(msg string) string {
	var b strings.Builder
	for _, c := range msg {
		if strconv.IsPrint(c) {
			b.WriteRune(c)
		} else {
			q := strconv.QuoteRune(c)
			b.WriteString(q[1 : len(q)-1])
		}
	}
	return b.String()
}

// clip shortens what a message quotes.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

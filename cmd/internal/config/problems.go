package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
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
	file string
	errs []*Error
}

func (p *problems) add(line int, format string, args ...any) {
	p.errs = append(p.errs, &Error{p.file, max(1, line), printable(fmt.Sprintf(format, args...))})
}

// err returns all problems in the order of the file, or nil.
func (p *problems) err() error {
	slices.SortStableFunc(p.errs, func(a, b *Error) int { return cmp.Compare(a.Line, b.Line) })
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

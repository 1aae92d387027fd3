package template

import (
	"fmt"
	"strings"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/hosts"
)

// quoting is what surrounds a place of shell source.
type quoting int

const (
	bare   quoting = iota
	single         // '…'
	double         // "…"
	unsure         // here-documents, comments, and what is nested: only values that need no quotes can stand there
)

// fill fills in the places of shell source.
func fill(text string, h hosts.Host, n int) (string, error) {
	var b strings.Builder
	in := bare
	for i := 0; i < len(text); i++ {
		if name, ok := placeAt(text, i); ok {
			v, err := value(name, h, n)
			if err != nil {
				return "", err
			}
			q, ok := in.quote(v)
			if !ok {
				return "", fmt.Errorf("{%s} is %q on %s and cannot be quoted where it stands: write it outside of quotes", name, v, h.Name)
			}
			b.WriteString(q)
			i += len(name) + 1
			continue
		}
		b.WriteByte(text[i])
		skip := false
		if in, skip = in.next(text, i); skip && i+1 < len(text) {
			i++
			b.WriteByte(text[i])
		}
	}
	return b.String(), nil
}

// quote returns a value as it can stand there.
func (in quoting) quote(v string) (string, bool) {
	q, err := framing.Quote(v)
	switch {
	case err != nil:
		return "", false
	case q == v, in == bare:
		return q, true
	case in == single:
		return strings.ReplaceAll(v, "'", `'\''`), true
	case in == double:
		return v, !strings.ContainsAny(v, "$`\"\\!")
	}
	return "", false
}

// next is what surrounds what comes after text[i]. skip says that the next byte is escaped.
func (in quoting) next(text string, i int) (now quoting, skip bool) {
	after := func(s string) bool { return strings.HasPrefix(text[i+1:], s) }
	c := text[i]
	switch in {
	case single:
		if c == '\'' {
			return bare, false
		}
	case double:
		switch {
		case c == '"':
			return bare, false
		case c == '\\':
			return in, true
		case c == '`', c == '$' && (after("(") || after("{") || after("[")):
			return unsure, false
		}
	case bare:
		switch {
		case c == '\\':
			return in, true
		case c == '\'':
			return single, false
		case c == '"':
			return double, false
		case c == '`', c == '<' && after("<"), c == '$' && (after("'") || after(`"`)), c == '#' && wordBegins(text, i):
			return unsure, false
		}
	}
	return in, false
}

// wordBegins reports whether text[i] is the first byte of a word, so that # begins a comment.
func wordBegins(text string, i int) bool {
	return i == 0 || strings.IndexByte(" \t\r\n;&|()<>", text[i-1]) >= 0
}

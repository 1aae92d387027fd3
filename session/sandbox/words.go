package sandbox

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// operators are words that shells read as they are where they stand alone, though they begin a pattern or an expansion.
var operators = []string{"[", "[[", "=", "=="}

// literal returns what a word is to the program after quote removal, and whether that is certain: without expansions,
// patterns, braces and tildes, in any shell. What it returns of an uncertain word is for messages alone.
func literal(w *syntax.Word) (string, bool) {
	if w == nil {
		return "", false
	}
	var b strings.Builder
	sure := true
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			if len(w.Parts) == 1 && slices.Contains(operators, p.Value) {
				return p.Value, true
			}
			sure = unquoted(&b, p.Value) && sure
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
			sure = sure && !p.Dollar
		case *syntax.DblQuoted:
			sure = sure && !p.Dollar
			for _, q := range p.Parts {
				l, ok := q.(*syntax.Lit)
				if !ok {
					return b.String(), false
				}
				quoted(&b, l.Value)
			}
		default:
			return b.String(), false
		}
	}
	return b.String(), sure
}

// unquoted reads text outside quotes. Whatever some shell expands is not certain: ~ as in ~/x, of=~/x and a:~/b, the =cmd
// of zsh, and its patterns.
func unquoted(b *strings.Builder, s string) bool {
	sure := true
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch c {
		case '\\':
			if i++; i == len(s) { // the shell goes on to read, or takes it as it is
				return false
			}
			if s[i] != '\n' {
				b.WriteByte(s[i])
			}
			continue
		case '*', '?', '[', '$', '`', '(', ')', '<', '>', '|':
			sure = false
		case '{':
			if strings.HasPrefix(s[i:], "{}") {
				b.WriteByte(c)
				i++
				c = '}'
				break
			}
			sure = false
		case '~':
			if b.Len() == 0 || i > 0 && (s[i-1] == '=' || s[i-1] == ':') {
				sure = false
			}
		case '=':
			if b.Len() == 0 { // quotes with nothing in them may stand in front
				sure = false
			}
		}
		b.WriteByte(c)
	}
	return sure
}

// quoted reads text within double quotes.
func quoted(b *strings.Builder, s string) {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && strings.IndexByte("$`\"\\\n", s[i+1]) >= 0 {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
}

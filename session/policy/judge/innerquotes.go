package judge

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/fairlead-ssh/fairlead/session/policy"
)

// innerQuotes judges single quotes within ${…} within double quotes or a here-document. The parser takes them for quotes.
// Shells take them for text, at least behind :-, -, :+ and +, and expand what stands between them.
func (w *walker) innerQuotes(p *syntax.SglQuoted) {
	if !p.Dollar && plainText(p.Value) {
		return
	}
	w.raise(policy.Unknown, "shell/quirk", "shells expand what stands in single quotes within these double quotes")
	if strings.ContainsAny(p.Value, "$`") {
		w.script(": \""+strings.ReplaceAll(p.Value, `"`, `\"`)+"\"", w.shell)
	}
}

// plainText reports whether a text means the same in single and in double quotes, and closes nothing.
func plainText(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool {
		return r < 0x80 && !alphanumeric(byte(r)) && !strings.ContainsRune(" _.,:;/+-=@%<>|()[]*?#\t\n", r)
	}) < 0
}

// backquotes judges `…` for what its text is to the shells that read it twice: once for the quotes around and within it,
// and once as commands.
func (w *walker) backquotes(p *syntax.CmdSubst, quoted bool) {
	src := w.source(p)
	if len(src) > 2 {
		if inner := src[1 : len(src)-1]; unescaped(inner, '`') >= 0 {
			w.raise(policy.Unknown, "shell/quirk", "shells end a substitution in backquotes at the next backquote")
			w.between(inner)
		}
	}
	switch {
	case strings.Contains(src, "\\\n"):
		w.raise(policy.Unknown, "shell/continuation", "a line is continued within an expansion")
	case quoted && unescaped(src, '"') >= 0:
		w.raise(policy.Unknown, "shell/quirk", "shells disagree about double quotes in backquotes in double quotes")
	}
}

// unescaped finds a character without a backslash before it.
func unescaped(s string, c byte) int {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case c:
			return i
		}
	}
	return -1
}

// between judges the pieces between backquotes, each of which some shell runs, for what is forbidden in them.
func (w *walker) between(s string) {
	for range maxDepth {
		i := unescaped(s, '`')
		if i < 0 {
			break
		}
		s = s[i+1:]
		piece := s
		if j := unescaped(s, '`'); j >= 0 {
			piece = s[:j]
		}
		w.script(strings.TrimLeft(piece, ";&|)}\"' \t\n"), "")
	}
}

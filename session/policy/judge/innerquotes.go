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
	w.raise(policy.Unknown, "shell/quirk", "shells expand what is in single quotes within these double quotes")
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
	if _, rest, more := cutUnescaped(strings.Trim(src, "`"), '`'); more {
		w.raise(policy.Unknown, "shell/quirk", "shells end a substitution in backquotes at the next backquote")
		w.between(rest)
	}
	switch {
	case strings.Contains(src, "\\\n"):
		w.raise(policy.Unknown, "shell/continuation", "a line is continued within an expansion")
	case quoted:
		if _, _, quotes := cutUnescaped(src, '"'); quotes {
			w.raise(policy.Unknown, "shell/quirk", "shells disagree about double quotes in backquotes in double quotes")
		}
	}
}

// cutUnescaped cuts a text at the first such character without a backslash before it.
func cutUnescaped(s string, c byte) (before, after string, found bool) {
	escaped := false
	for i := range len(s) {
		switch {
		case escaped:
			escaped = false
		case s[i] == '\\':
			escaped = true
		case s[i] == c:
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

// between judges the pieces between backquotes, each of which some shell runs, for what is forbidden in them.
func (w *walker) between(s string) {
	for more := true; more; {
		var piece string
		piece, s, more = cutUnescaped(s, '`')
		w.script(strings.TrimLeft(piece, ";&|)}\"' \t\n"), "")
	}
}

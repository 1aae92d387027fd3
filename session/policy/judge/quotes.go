package judge

import (
	"strconv"
	"strings"
	"unicode/utf8"

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
	if _, rest, brace := cutUnescaped(src, '}'); brace && w.inDouble {
		w.raise(policy.Unknown, "shell/quirk", "ksh93 ends ${…} at a brace in backquotes, and expands what stands behind it")
		w.script(": \""+strings.NewReplacer(`"`, `\"`, "`", "").Replace(rest)+"\"", w.shell)
	}
	if inner := strings.Trim(src, "`"); w.inDouble && strings.Contains(inner, `\`) {
		w.raise(policy.Unknown, "shell/quirk", "shells disagree about backslashes in backquotes in an expansion in double quotes")
		w.script(inner, w.shell) // as it is where none is taken away
	}
	if endsInComment(strings.Trim(src, "`")) {
		w.raise(policy.Unknown, "shell/quirk", "mksh does not end a comment at a backquote")
		if _, behind, more := strings.Cut(w.src[min(int(p.End().Offset()), len(w.src)):], "\n"); more {
			w.between(behind)
		}
	}
	switch {
	case strings.Contains(src, "\\\n"):
		w.raise(policy.Unknown, "shell/continuation", "a line is continued within an expansion")
	case quoted || w.inDouble:
		if _, _, quotes := cutUnescaped(src, '"'); quotes {
			w.raise(policy.Unknown, "shell/quirk", "shells disagree about double quotes in backquotes in double quotes")
		}
	}
}

// endsInComment reports whether the last line of a script ends in a comment. Quotes within other quotes or expansions may mislead it
// to see one.
func endsInComment(s string) bool {
	var quote byte
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && quote != '\'':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '#' && (i == 0 || strings.IndexByte(" \t\n;&|()<>", s[i-1]) >= 0):
			line, _, more := strings.Cut(s[i:], "\n")
			if !more {
				return true
			}
			i += len(line)
		}
	}
	return false
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

// dollarQuoted reports whether a dollar sign at the end of a literal and the part behind it are $'…' to newer shells of this kind, and a
// dollar sign and a text to older ones: the text is judged for both, and is as long for both.
func (w *walker) dollarQuoted(s string, next syntax.WordPart) bool {
	q, ok := next.(*syntax.SglQuoted)
	if !ok || q.Dollar || w.inDouble || w.d.lang != syntax.LangPOSIX || strings.HasSuffix(s, "\\$") {
		return false
	}
	_, ok = unescapeANSI(q.Value, w.shell)
	return ok
}

// unescapeANSI gives the text of $'…' as a shell reads it. ok is false where shells may differ or a NUL would cut it; busybox ash keeps
// the backslash of an escape that it does not know.
func unescapeANSI(s, shell string) (string, bool) {
	if strings.IndexByte(s, '\\') < 0 {
		return s, true
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		i++
		if i == len(s) {
			return "", false
		}
		if strings.IndexByte("eE?uU", s[i]) >= 0 && shell == "ash" {
			return "", false
		}
		if j := strings.IndexByte("abeEfnrtv\\'\"?", s[i]); j >= 0 {
			b.WriteByte("\a\b\x1b\x1b\f\n\r\t\v\\'\"?"[j])
			continue
		}
		base, skip, most := 0, 0, 0
		switch c := s[i]; {
		case c >= '0' && c <= '7':
			base, most = 8, 3
		case c == 'x':
			base, skip, most = 16, 1, 2
		case c == 'u':
			base, skip, most = 16, 1, 4
		case c == 'U':
			base, skip, most = 16, 1, 8
		default:
			return "", false
		}
		i += skip
		end := i
		for end < len(s) && end < i+most && digitOf(s[end], base) {
			end++
		}
		if most == 2 && end < len(s) && digitOf(s[end], 16) {
			return "", false // the shells of the Korn family read all digits
		}
		n, err := strconv.ParseUint(s[i:end], base, 32)
		if err != nil || n == 0 || most == 3 && n > 0xff && shell == "ash" { // which takes two digits then
			return "", false
		}
		switch {
		case most >= 4:
			if !utf8.ValidRune(rune(n)) || n > 0xffff { // mksh knows no more than these
				return "", false
			}
			b.WriteRune(rune(n))
		default:
			b.WriteByte(byte(n))
		}
		i = end - 1
	}
	return b.String(), true
}

func digitOf(c byte, base int) bool {
	switch {
	case c >= '0' && c <= '7':
		return true
	case base != 16:
		return false
	default:
		return c == '8' || c == '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
	}
}

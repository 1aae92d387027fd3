package judge

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/fairlead-ssh/fairlead/session/policy/parse"
)

// dialect is one language that a script is judged in.
type dialect struct {
	lang   syntax.LangVariant
	braces bool // {a,b} makes two words
	dollar bool // $'a\tb' is read with its escapes where the parser takes it for a dollar sign and quotes
}

var (
	inBash  = dialect{lang: syntax.LangBash, braces: true}
	inPosix = dialect{lang: syntax.LangPOSIX}
	inMksh  = dialect{lang: syntax.LangMirBSDKorn, braces: true}
	inZsh   = dialect{lang: syntax.LangZsh, braces: true}

	// inNewPosix is POSIX of 2024, which has $'…'.
	inNewPosix = dialect{lang: syntax.LangPOSIX, dollar: true}
)

// dialects returns the languages of a shell; the strictest judgement counts. The parser has none for ksh93, which is
// near mksh and bash, and none for busybox ash, which is POSIX with a few things of bash. "sh" may be any of them.
func dialects(shell string) []dialect {
	switch shell {
	case "bash":
		return []dialect{inBash}
	case "zsh":
		return []dialect{inZsh}
	case "mksh":
		return []dialect{inMksh}
	case "ksh":
		return []dialect{inMksh, inBash}
	case "dash":
		return []dialect{inPosix}
	default:
		return []dialect{inBash, inPosix}
	}
}

// readings returns the languages that a text is judged in for a shell. What every one of them reads alike is judged in one.
func readings(shell, text string) []dialect {
	list := dialects(shell)
	last := len(list) - 1
	if list[last] != inPosix {
		return list
	}
	switch {
	case shell == "" && bashOnly(text):
		return []dialect{inBash}
	case last > 0 && sameInAll(text):
		return list[:last]
	case strings.Contains(text, "$'"):
		return append(list, inNewPosix)
	}
	return list
}

func knownShell(shell string) bool {
	switch shell {
	case "", "bash", "zsh", "mksh", "ksh", "dash", "ash", "sh":
		return true
	}
	return false
}

// maybeZsh reports whether zsh's readings of =cmd, glob qualifiers and subscripts must be thought of.
func maybeZsh(shell string) bool { return shell == "zsh" || shell == "" }

// bashOnly reports whether a text that no shell but some of the kind of bash can parse means nothing else anywhere: plain but for
// process substitutions and here-strings, at which the others stop before they run anything of it. Text is one line.
func bashOnly(src string) bool {
	if !strings.Contains(src, "<(") && !strings.Contains(src, "<<<") || strings.IndexByte(src, '\n') >= 0 {
		return false
	}
	file, doubt, err := parse.File(syntax.LangBash, src)
	if err != nil || doubt != "" {
		return false
	}
	plain := []byte(src)
	found := false
	mask := func(from, to syntax.Pos, with byte) {
		for i := from.Offset(); i < to.Offset(); i++ {
			plain[i] = with
		}
		found = true
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.ProcSubst:
			if n.Op == syntax.CmdIn {
				mask(n.Pos(), n.End(), 'x')
				return false
			}
		case *syntax.Redirect:
			if n.Op == syntax.WordHdoc {
				mask(n.OpPos, n.Word.End(), ' ')
				return false
			}
		}
		return true
	})
	return found && sameInAll(string(plain))
}

// sameInAll reports whether POSIX shells read a text exactly as bash does: plain words, quotes and variables, none of
// bash's operators and none of the words that only bash reserves. It gives up at anything else, comments included.
func sameInAll(src string) bool {
	double := false
	for i := 0; i < len(src); i++ {
		next := byte(0)
		if i+1 < len(src) {
			next = src[i+1]
		}
		switch c := src[i]; c {
		case '\\':
			i++
		case '"':
			double = !double
		case '\'':
			if double {
				continue
			}
			end := strings.IndexByte(src[i+1:], '\'')
			if end < 0 {
				return false
			}
			i += end + 1
		case '$':
			if !(next >= 'a' && next <= 'z' || next >= 'A' && next <= 'Z' || next == '_' || next == '?' || next == '#') {
				return false
			}
			i++
		case '`', '#', '!':
			return false
		case '{', '}', '(', ')', '[':
			if !double {
				return false
			}
		case '&':
			if !double && (i > 0 && (src[i-1] == '|' || src[i-1] == ';') || next == '>' || next == '|') {
				return false
			}
		case '<':
			if !double && (next == '<' || next == '>' || next == '&') {
				return false
			}
		case '>':
			if !double && next == '&' && (i+2 == len(src) || src[i+2] < '0' || src[i+2] > '9') {
				return false
			}
		}
	}
	for _, word := range [...]string{"time", "function", "select", "coproc", "let", "declare", "typeset", "local", "export", "readonly", "nameref"} {
		if strings.Contains(src, word) {
			return false
		}
	}
	return true
}

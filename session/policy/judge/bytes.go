package judge

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/parse"
)

// Normalize returns script with CRLF as LF: the bytes that are judged, and the only ones that may be run.
func Normalize(script string) string {
	return strings.ReplaceAll(script, "\r\n", "\n")
}

// verdict is a class with its ground.
type verdict struct {
	class        policy.Class
	rule, reason string
}

// scan is what the bytes say before anything is parsed.
type scan struct {
	refused   verdict // class set: refuse without parsing
	invalid   bool    // not UTF-8
	invisible bool    // holds characters that are refused outside quotes
}

// scanBytes looks at every byte once. Terminals act on control bytes, bidi controls reorder what a reader sees, and
// shells disagree about NUL and CR, so none of them is ever judged as text.
func scanBytes(src string) scan {
	var s scan
	for i := 0; i < len(src); {
		c := src[i]
		if c < utf8.RuneSelf {
			if c < 0x20 && c != '\n' && c != '\t' || c == 0x7f {
				s.refused = verdict{policy.Forbidden, "bytes/control", controlReason(c)}
				return s
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(src[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			s.invalid = true
		case r < 0xa0:
			s.refused = verdict{policy.Forbidden, "bytes/control", "a C1 control character, which a terminal may obey"}
			return s
		case isBidi(r):
			s.refused = verdict{policy.Forbidden, "bytes/bidi", "a control character changes the order in which the command is shown"}
			return s
		case isInvisible(r):
			s.invisible = true
		}
		i += n
	}
	return s
}

func controlReason(c byte) string {
	switch c {
	case 0:
		return "a NUL byte: the shell and the judge would see different commands"
	case '\r':
		return "a carriage return that is not part of CRLF: a terminal takes it as the end of the line"
	default:
		return "a control byte, which a terminal obeys instead of passing it on"
	}
}

func isBidi(r rune) bool {
	return r == 0x061c || r == 0x200e || r == 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
}

// isInvisible knows the characters of Unicode that show as nothing or as a space: Default_Ignorable_Code_Point and the
// White_Space and Zs characters above ASCII, and the fillers.
func isInvisible(r rune) bool {
	return r == '\u2800' || r >= utf8.RuneSelf && unicode.IsSpace(r) || unicode.Is(printable.Invisible, r)
}

// QuotedCRLF reports whether [Normalize] changes what stands within quotes or a here-document, where a CR may be meant. What cannot
// be parsed counts where it holds quotes at all.
func QuotedCRLF(script string) bool {
	if !strings.Contains(script, "\r\n") {
		return false
	}
	if len(script) > maxScript {
		return true
	}
	var changed []int // where a CRLF has become a newline
	text := Normalize(script)
	for i, cut := 0, 0; ; cut++ {
		n := strings.Index(script[i:], "\r\n")
		if n < 0 {
			break
		}
		i += n + 2
		changed = append(changed, i-2-cut)
	}
	file, _, err := parse.File(syntax.LangBash, text)
	if err != nil {
		return strings.ContainsAny(text, "'\"") || strings.Contains(text, "<<")
	}
	found := false
	within := func(n syntax.Node) {
		for _, at := range changed {
			found = found || int(n.Pos().Offset()) <= at && at < int(n.End().Offset())
		}
	}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.SglQuoted:
			within(n)
		case *syntax.DblQuoted:
			within(n)
		case *syntax.Redirect:
			if n.Hdoc != nil {
				within(n.Hdoc)
			}
		}
		return !found
	})
	return found
}

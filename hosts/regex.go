package hosts

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
)

// compileRegex compiles a regular expression that looks at names. weight is the size of its program: matching costs at
// most that times the length of the name.
func compileRegex(src string) (re *regexp.Regexp, weight int, err error) {
	if src == "" {
		return nil, 0, errors.New("an empty regular expression would match every host: write all")
	}
	tree, err := syntax.Parse(src, syntax.Perl)
	if err != nil {
		return nil, 0, fmt.Errorf("bad regular expression: %w", regexReason(err))
	}
	prog, err := syntax.Compile(tree.Simplify())
	if err != nil {
		return nil, 0, fmt.Errorf("bad regular expression: %w", regexReason(err))
	}
	if len(prog.Inst) > maxWeight {
		return nil, 0, errors.New("the regular expression is too large")
	}
	if re, err = regexp.Compile(src); err != nil {
		return nil, 0, fmt.Errorf("bad regular expression: %w", regexReason(err))
	}
	return re, len(prog.Inst), nil
}

// regexReason keeps what is wrong and drops the library's own opening words.
func regexReason(err error) error {
	var bad *syntax.Error
	if errors.As(err, &bad) {
		return fmt.Errorf("%s: %s", bad.Code, shorten(bad.Expr))
	}
	return err
}

// regexEnd returns where an unquoted regular expression at the start of s ends: at the first space, comma, |, & or ) that
// is in none of its own brackets, parentheses or braces and not escaped.
func regexEnd(s string) (int, error) {
	var open []byte // what each open bracket is closed by
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '\\':
			if i++; i >= len(s) {
				return 0, errors.New(`the regular expression ends in a \`)
			}
		case c == '[':
			end := classEnd(s[i:])
			if end < 0 {
				return 0, errors.New("[ without ] in the regular expression")
			}
			i += end
		case c == '(':
			open = append(open, ')')
		case c == '{':
			open = append(open, '}')
		case len(open) > 0 && c == open[len(open)-1]:
			open = open[:len(open)-1]
		case len(open) == 0 && (strings.IndexByte(",|&)", c) >= 0 || isSpace(c)):
			return i, nil
		}
	}
	if len(open) > 0 {
		return 0, fmt.Errorf("%c is missing in the regular expression; put it in quotes if it has none", open[len(open)-1])
	}
	return len(s), nil
}

// classEnd returns the offset of the ] that closes the class at the start of s, or -1.
func classEnd(s string) int {
	i := 1
	if strings.HasPrefix(s[i:], "^") {
		i++
	}
	if strings.HasPrefix(s[i:], "]") { // first, it stands for itself
		i++
	}
	for ; i < len(s); i++ {
		switch {
		case s[i] == '\\':
			i++
		case s[i] == '[' && strings.HasPrefix(s[i:], "[:"):
			end := strings.Index(s[i:], ":]")
			if end < 0 {
				return -1
			}
			i += end + 1
		case s[i] == ']':
			return i
		}
	}
	return -1
}

// quoteRegex and unquoteRegex use one escape only, \" for a quote: every other backslash belongs to the expression.
func quoteRegex(src string) string { return `"` + strings.ReplaceAll(src, `"`, `\"`) + `"` }

// normalRegex writes a quote in an expression as itself, escaped or not, so that quoting it is unambiguous.
func normalRegex(src string) string {
	var b strings.Builder
	for i := 0; i < len(src); i++ {
		if src[i] == '\\' && i+1 < len(src) {
			if i++; src[i] != '"' {
				b.WriteByte('\\')
			}
		}
		b.WriteByte(src[i])
	}
	return b.String()
}

// quoteEnd returns the offset of the quote that closes the one s begins with, or -1. A backslash takes the next byte with
// it.
func quoteEnd(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}

// quoteValue quotes any other text: \" and \\ are its two escapes.
func quoteValue(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

func unquoteValue(s string) string {
	return strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(s)
}

// valueRune says which characters a label's value or a path may hold without quotes.
func valueRune(r rune) bool { return unicode.IsPrint(r) && !strings.ContainsRune(` ,|&()!"[]`, r) }

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

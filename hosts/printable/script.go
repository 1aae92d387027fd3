package printable

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Invisible are characters that a reader cannot see but that change what a program, or a model, reads: zero-width
// characters, marks and overrides of the writing direction, variation selectors, tags, and other invisible formatting.
// From the Unicode Character Database: Default_Ignorable_Code_Point, less what is a letter with a width of its own.
var Invisible = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x00ad, Hi: 0x00ad, Stride: 1}, {Lo: 0x034f, Hi: 0x034f, Stride: 1}, {Lo: 0x061c, Hi: 0x061c, Stride: 1},
		{Lo: 0x115f, Hi: 0x1160, Stride: 1}, {Lo: 0x17b4, Hi: 0x17b5, Stride: 1}, {Lo: 0x180b, Hi: 0x180f, Stride: 1},
		{Lo: 0x200b, Hi: 0x200f, Stride: 1}, {Lo: 0x202a, Hi: 0x202e, Stride: 1}, {Lo: 0x2060, Hi: 0x206f, Stride: 1},
		{Lo: 0x3164, Hi: 0x3164, Stride: 1}, {Lo: 0xfe00, Hi: 0xfe0f, Stride: 1}, {Lo: 0xfeff, Hi: 0xfeff, Stride: 1},
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1}, {Lo: 0xfff0, Hi: 0xfffb, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x1bca0, Hi: 0x1bca3, Stride: 1}, {Lo: 0x1d173, Hi: 0x1d17a, Stride: 1}, {Lo: 0xe0000, Hi: 0xe0fff, Stride: 1},
	},
}

const emptyBraille = '\u2800' // it counts as printable and shows nothing

// Hidden reports whether a character cannot be seen, or does not look like itself.
func Hidden(r rune) bool {
	return r == utf8.RuneError || !strconv.IsPrint(r) || r == emptyBraille || unicode.Is(Invisible, r)
}

// Script makes a command fit for a terminal: its lines, and whether they are escaped. Where it holds anything that
// cannot be seen, spaces at the end of a line among it, all of it is escaped as in a Go string, except for quotes; so what
// is shown stands for one command only. A newline at the very end shows as one more line, which is empty. The characters
// in plain, a tab for instance, do not make it escaped.
func Script(text string, plain ...rune) (lines []string, escaped bool) {
	lines = strings.Split(text, "\n")
	hidden := func(r rune) bool { return Hidden(r) && !slices.Contains(plain, r) }
	for _, l := range lines {
		if strings.ContainsFunc(l, hidden) || strings.HasSuffix(l, " ") {
			escaped = true
		}
	}
	if escaped {
		for i, l := range lines {
			lines[i] = escape(l)
		}
	}
	return lines, escaped
}

// Quoted makes any text fit for one line. Only what holds a backslash or anything hidden is escaped, as in a Go string,
// and stands in quotes then.
func Quoted(text string) string {
	if text == "" || !strings.ContainsFunc(text, Hidden) && !strings.ContainsAny(text, `\"`) && strings.TrimSpace(text) == text {
		return text
	}
	return `"` + strings.ReplaceAll(escape(text), `"`, `\"`) + `"`
}

// escape writes text as strconv.Quote would, without quotes, and with more escaped. Its result can be unquoted again.
func escape(text string) string {
	var b strings.Builder
	end := len(strings.TrimRight(text, " "))
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r == ' ' && i >= end:
			b.WriteString(`\x20`)
		case r == '\\':
			b.WriteString(`\\`)
		case !Hidden(r):
			b.WriteRune(r)
		case r == '\n', r == '\t', r == '\r':
			b.WriteString(map[rune]string{'\n': `\n`, '\t': `\t`, '\r': `\r`}[r])
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
		i += n
	}
	return b.String()
}

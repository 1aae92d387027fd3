package approvals

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// blank holds characters that count as printable and show nothing, or that change how the one before looks.
var blank = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x034f, Hi: 0x034f, Stride: 1}, // combining grapheme joiner
		{Lo: 0x115f, Hi: 0x1160, Stride: 1}, // Hangul fillers
		{Lo: 0x17b4, Hi: 0x17b5, Stride: 1}, // Khmer inherent vowels
		{Lo: 0x180b, Hi: 0x180f, Stride: 1}, // Mongolian variation selectors
		{Lo: 0x2800, Hi: 0x2800, Stride: 1}, // the empty Braille pattern
		{Lo: 0x3164, Hi: 0x3164, Stride: 1}, // Hangul filler
		{Lo: 0xfe00, Hi: 0xfe0f, Stride: 1}, // variation selectors
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1}, // halfwidth Hangul filler
	},
	R32: []unicode.Range32{{Lo: 0xe0100, Hi: 0xe01ef, Stride: 1}}, // variation selectors
}

// hidden reports whether a character cannot be seen, or does not look like itself.
func hidden(r rune) bool {
	return r == utf8.RuneError || !strconv.IsPrint(r) || unicode.Is(blank, r)
}

// script makes a command fit for a terminal: its lines, and whether they are escaped. Where it holds anything that
// cannot be seen, spaces at the end of a line among it, all of it is escaped as in a Go string, except for quotes; so what is
// shown stands for one command only. A newline at the very end shows as one more line, which is empty.
func script(text string) (lines []string, escaped bool) {
	lines = strings.Split(text, "\n")
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

// line makes any text fit for one line. Only what holds a backslash or anything hidden is escaped, as in a Go string, and
// stands in quotes then.
func line(text string) string {
	if text == "" || !strings.ContainsFunc(text, hidden) && !strings.ContainsAny(text, `\"`) && strings.TrimSpace(text) == text {
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
		case !hidden(r):
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

// maxForeign is how many characters outside of ASCII are named.
const maxForeign = 8

// foreign names the characters outside of ASCII that can be seen, since some look like others; "" if there are none.
func foreign(text string) string {
	var named []string
	seen := map[rune]bool{}
	for _, r := range text {
		if r < 0x80 || hidden(r) || seen[r] {
			continue
		}
		if seen[r] = true; len(named) == maxForeign {
			named = append(named, "…")
			break
		}
		named = append(named, fmt.Sprintf("%c U+%04X", r, r))
	}
	return strings.Join(named, ", ")
}

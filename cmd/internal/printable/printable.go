// Package printable makes text of others fit for a terminal: what a terminal would obey is shown instead.
package printable

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxColor bounds a sequence that sets colours; longer ones are shown.
const maxColor = 64

// token returns what stands at the beginning of text, as it is shown, and how many bytes of text it is. color means that
// it sets colours and takes no room.
func token(text []byte) (shown string, n int, color bool) {
	switch c := text[0]; {
	case c == '\t':
		return "\t", 1, false
	case c == 0x1b:
		if n := colors(text); n > 0 {
			return string(text[:n]), n, true
		}
		return "^[", 1, false
	case c < ' ':
		return string([]byte{'^', c + '@'}), 1, false
	case c == 0x7f:
		return "^?", 1, false
	case c < 0x80:
		return string(text[:1]), 1, false
	}
	r, n := utf8.DecodeRune(text)
	switch {
	case r == utf8.RuneError && n == 1:
		if text[0] < 0xa0 {
			return fmt.Sprintf(`\x%02x`, text[0]), 1, false // C1 of terminals that do not take UTF-8
		}
		return string(text[:1]), 1, false
	case r < 0xa0: // C1 in UTF-8: some terminals obey it
		return "^[" + string(r-0x40), n, false
	case unicode.In(r, unicode.Zl, unicode.Zp, unicode.Bidi_Control):
		return fmt.Sprintf(`\u%04x`, r), n, false
	}
	return string(text[:n]), n, false
}

// colors returns the length of the sequence that sets colours at the beginning of p; 0 if there is none.
func colors(p []byte) int {
	if len(p) < 3 || p[1] != '[' {
		return 0
	}
	for i, c := range p[2:min(len(p), maxColor)] {
		switch {
		case c == 'm':
			return i + 3
		case c != ';' && c != ':' && (c < '0' || c > '9'):
			return 0
		}
	}
	return 0
}

// resetColors ends whatever a line has set.
const resetColors = "\x1b[0m"

// Append appends a line of output, without its newline, for a terminal. Colours stay, and end with the line; all other
// control sequences are shown, because with them a host could write over the lines of others. The carriage return of a
// CRLF is left out.
func Append(out, line []byte) []byte {
	line = trimCR(line)
	colored := false
	for len(line) > 0 {
		shown, n, color := token(line)
		out = append(out, shown...)
		line = line[n:]
		colored = colored || color
	}
	if colored {
		out = append(out, resetColors...)
	}
	return out
}

func trimCR(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\r' {
		return line[:n-1]
	}
	return line
}

// Text makes a text of several lines fit for a terminal, without colours.
func Text(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line, ended := strings.CutSuffix(line, "\n")
		for rest := []byte(line); len(rest) > 0; {
			shown, n, color := token(rest)
			if color {
				shown, n = "^[", 1
			}
			b.WriteString(shown)
			rest = rest[n:]
		}
		if ended {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// Line makes a text one line, its lines separated by "; ", in which what is not graphic is replaced.
func Line(text string) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
	return strings.Map(graphic, text)
}

// Cell makes a text fit for a cell of a table: one line, in which what is not graphic is replaced.
func Cell(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || r == '\r' {
			return ' '
		}
		return graphic(r)
	}, text)
}

func graphic(r rune) rune {
	if !unicode.IsGraphic(r) {
		return unicode.ReplacementChar
	}
	return r
}

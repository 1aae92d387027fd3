// Package printable makes text of others fit for people: for a line, a cell, a message or a script on a terminal. What a
// terminal would obey, and what a reader cannot see, is shown, replaced or escaped.
package printable

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxColor bounds a sequence that sets colours; longer ones are shown.
const maxColor = 64

// Token returns what stands at the beginning of text, as a terminal shows it, and how many bytes of text it is. color
// means that it sets colours and takes no room.
func Token(text []byte) (shown string, n int, color bool) {
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

// Text makes a text of several lines fit for a terminal, without colours.
func Text(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		line, ended := strings.CutSuffix(line, "\n")
		for rest := []byte(line); len(rest) > 0; {
			shown, n, color := Token(rest)
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

// Heard makes what another program or machine said fit for a message: one line of at most about most bytes.
func Heard(text string, most int) string {
	text = text[:min(len(text), 8*most)] // whatever comes, no more of it is looked at
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "?")), " ")
	return Clip(strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) {
			return '?'
		}
		return r
	}, text), most)
}

// Clip shortens a text of more than most bytes and says so with "…".
func Clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// Fit is Clip where the result, with its "…", has at most most bytes.
func Fit(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return Clip(text, most-len("…"))
}

// Message makes a message of ours that quotes others one line: what cannot be printed is escaped as in a Go string.
func Message(text string) string {
	var b strings.Builder
	for _, c := range text {
		if strconv.IsPrint(c) {
			b.WriteRune(c)
		} else {
			q := strconv.QuoteRune(c)
			b.WriteString(q[1 : len(q)-1])
		}
	}
	return b.String()
}

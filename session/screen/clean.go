package screen

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/fairlead-ssh/fairlead/hosts/printable"
)

const (
	maxMarks  = 16  // combining marks on one character
	maxColumn = 256 // to which a program may move past a line's end
)

// Clean makes text for a reader who is no terminal. Control sequences and characters are taken out, after carriage
// returns, backspaces and erased line ends had their effect, so that of a progress bar its last state is left. Hidden
// characters (zero-width, bidirectional, variation selectors, tags) are taken out as well. removed counts the
// sequences, the control characters (carriage returns among them, also those before a newline) and the hidden characters
// that were taken out; text that was overwritten is not counted. Of valid UTF-8 nothing else changes: where removed is
// zero, clean is text. The result is valid UTF-8: bytes that are not become U+FFFD.
//
// The lines stay what they are, except that a move to another line begins a new one. It takes time linear in text.
func Clean(text string) (clean string, removed int) {
	var l cleaner
	l.out.Grow(len(text))
	l.write(text)
	l.flush()
	return l.out.String(), l.removed
}

// cleaner is a terminal of one line, which writes each line out when it is left.
type cleaner struct {
	out     strings.Builder
	line    []cell
	col     int
	removed int
}

type cell struct {
	r     rune
	marks []rune
}

func (l *cleaner) write(s string) {
	for len(s) > 0 {
		if l.col == 0 && len(l.line) == 0 {
			if n := plain(s); n > 0 { // whole lines that need no care
				l.out.WriteString(s[:n])
				s = s[n:]
				continue
			}
		}
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == 0x1b:
			n = l.escape(s)
		case r == '\t' || r >= 0x20 && r < 0x7f:
			l.put(r)
		case r == '\n':
			l.newline()
		case r == '\v' || r == '\f':
			l.newline()
			l.removed++
		case r == '\r':
			l.col = 0
			l.removed++
		case r == '\b':
			l.col = max(l.col-1, 0)
			l.removed++
		case r == 0x9b || r == 0x9d || r == 0x90 || r == 0x98 || r == 0x9e || r == 0x9f:
			n = l.c1(s, r, n)
		case r < 0x20 || r >= 0x7f && r < 0xa0, unicode.Is(printable.Invisible, r):
			l.removed++
		case unicode.Is(unicode.Mn, r) || unicode.Is(unicode.Me, r):
			l.mark(r)
		default:
			l.put(r)
		}
		s = s[n:]
	}
}

// plain says how many bytes at the start of s are whole lines of nothing but printable ASCII and tabs.
func plain(s string) int {
	n := 0
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\n':
			n = i + 1
		case c != '\t' && (c < 0x20 || c >= 0x7f):
			return n
		}
	}
	return n
}

func (l *cleaner) put(r rune) {
	l.col = min(l.col, max(len(l.line), maxColumn))
	for len(l.line) < l.col {
		l.line = append(l.line, cell{r: ' '})
	}
	if l.col == len(l.line) {
		l.line = append(l.line, cell{r: r})
	} else {
		l.line[l.col] = cell{r: r}
	}
	l.col++
}

func (l *cleaner) mark(r rune) {
	if l.col == 0 || l.col > len(l.line) || len(l.line[l.col-1].marks) == maxMarks {
		l.removed++
		return
	}
	c := &l.line[l.col-1]
	c.marks = append(c.marks, r)
}

func (l *cleaner) newline() {
	l.flush()
	l.out.WriteByte('\n')
}

// flush writes the line out, which may be empty.
func (l *cleaner) flush() {
	writeCells(&l.out, l.line)
	l.line, l.col = l.line[:0], 0
}

func writeCells(b *strings.Builder, line []cell) {
	for _, c := range line {
		b.WriteRune(c.r)
		for _, m := range c.marks {
			b.WriteRune(m)
		}
	}
}

// escape handles the sequence at the start of s and says how long it is.
func (l *cleaner) escape(s string) int {
	e := parseEscape([]byte(s[:escapeEnd(s, 2)]))
	l.removed++
	switch {
	case e.kind == '[' && e.ended:
		l.control(e)
	case e.body != nil && e.kind != 0 && e.kind != '[' && (!e.ended || e.torn):
		return min(2, len(s)) // a string without an end hides nothing
	}
	return e.size
}

// c1 does the same for a sequence that begins with a single character of eight bits.
func (l *cleaner) c1(s string, r rune, n int) int {
	intro := map[rune]byte{0x9b: '[', 0x9d: ']', 0x90: 'P', 0x98: 'X', 0x9e: '^', 0x9f: '_'}[r]
	p := append([]byte{0x1b, intro}, s[n:escapeEnd(s, n)]...)
	e := parseEscape(p)
	l.removed++
	switch {
	case intro == '[' && e.ended:
		l.control(e)
	case intro != '[' && (!e.ended || e.torn):
		return n
	}
	return e.size - 2 + n
}

// escapeEnd bounds the sequence at the start of s, whose introducer has n bytes: another introducer, and what follows it,
// is no part of it. Without such a bound many introducers would be looked through again and again.
func escapeEnd(s string, n int) int {
	if len(s) <= n {
		return len(s)
	}
	i := strings.IndexAny(s[n:], "\x1b\u0090\u0098\u009b\u009d\u009e\u009f\a\x18\x1a")
	if i < 0 {
		return len(s)
	}
	return min(n+i+2, len(s)) // ESC \ and BEL belong to it
}

// control gives a control sequence the effect it has within a line.
func (l *cleaner) control(e escape) {
	if e.mark != 0 {
		return
	}
	nums := e.numbers()
	n := nums.at(0)
	switch e.final {
	case 'K':
		switch n {
		case 0:
			l.line = l.line[:min(l.col, len(l.line))]
		case 2:
			l.line = l.line[:0]
		}
	case 'G', '`':
		l.col = min(max(n, 1)-1, max(len(l.line), maxColumn))
	case 'C', 'a':
		l.col = min(l.col+max(n, 1), max(len(l.line), l.col, maxColumn))
	case 'D':
		l.col = max(l.col-max(n, 1), 0)
	case 'A', 'B', 'E', 'F', 'H', 'd', 'e', 'f': // to another line
		if len(l.line) > 0 {
			l.newline()
		}
		l.col = 0
	}
}

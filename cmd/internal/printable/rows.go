package printable

import (
	"github.com/charmbracelet/x/ansi"
)

const (
	tabStop = 8
	// minRoom is how much of a row is left for text on the narrowest terminal.
	minRoom = 10
	// maxState bounds the colours that are set again in the next row.
	maxState = 512
)

// Rows writes lines of a host's output as rows of a terminal that all begin with a prefix. A line that is longer than the
// terminal is wide is broken, because the row on which a terminal continues it would begin with the host's text.
type Rows struct {
	Prefix string // before the first row of a line; it may set colours
	Cont   string // before the others
	Width  int    // of the terminal; 0 means that lines are not broken
}

// Append appends a line, given without its newline, and a newline. rest means that it is the rest of a line.
func (r Rows) Append(out, line []byte, rest bool) []byte {
	line = trimCR(line)
	prefix := r.Prefix
	if rest {
		prefix = r.Cont
	}
	out = append(out, prefix...)
	start := ansi.StringWidth(prefix)
	at, most := start, max(r.Width, start+minRoom)
	colored := false
	var state []byte // colours that are set
	for len(line) > 0 {
		shown, n, color := token(line)
		line = line[n:]
		if color {
			out, colored = append(out, shown...), true
			if state = append(state, shown...); shown == "\x1b[m" || shown == resetColors || len(state) > maxState {
				state = state[:0]
			}
			continue
		}
		w := width(shown, at)
		if r.Width > 0 && at+w > most {
			if colored {
				out = append(out, resetColors...)
			}
			out = append(append(append(out, '\n'), r.Cont...), state...)
			start = ansi.StringWidth(r.Cont)
			at, most = start, max(r.Width, start+minRoom)
			w = width(shown, at)
		}
		out = append(out, shown...)
		at += w
	}
	if colored {
		out = append(out, resetColors...)
	}
	return append(out, '\n')
}

// width is how many cells a token takes at a column. Each character counts on its own: terminals disagree on what
// becomes one picture, and to break a line too early is harmless.
func width(shown string, at int) int {
	if shown == "\t" {
		return tabStop - at%tabStop
	}
	if len(shown) == 1 {
		return 1
	}
	w := 0
	for _, c := range shown {
		if c < 0x80 {
			w++
		} else {
			w += ansi.StringWidth(string(c))
		}
	}
	return w
}

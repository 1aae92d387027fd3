package run

import (
	"github.com/charmbracelet/x/ansi"

	"github.com/fairlead-ssh/fairlead/hosts/printable"
)

// resetColors ends whatever a line has set.
const resetColors = "\x1b[0m"

const (
	tabStop = 8
	// minRoom is how much of a row is left for text on the narrowest terminal.
	minRoom = 10
	// maxState bounds the colours that are set again in the next row.
	maxState = 512
)

// rows writes lines of a host's output as rows of a terminal that all begin with a prefix. A line that is longer than the
// terminal is wide is broken, because the row on which a terminal continues it would begin with the host's text.
type rows struct {
	prefix string // before the first row of a line; it may set colours
	cont   string // before the others
	width  int    // of the terminal; 0 means that lines are not broken
}

// append appends a line, given without its newline, and a newline. rest means that it is the rest of a line.
func (r rows) append(out, line []byte, rest bool) []byte {
	line = trimCR(line)
	prefix := r.prefix
	if rest {
		prefix = r.cont
	}
	out = append(out, prefix...)
	start := ansi.StringWidth(prefix)
	at, most := start, max(r.width, start+minRoom)
	colored := false
	var state []byte // colours that are set
	for len(line) > 0 {
		shown, n, color := printable.Token(line)
		line = line[n:]
		if color {
			out, colored = append(out, shown...), true
			if state = append(state, shown...); shown == "\x1b[m" || shown == resetColors || len(state) > maxState {
				state = state[:0]
			}
			continue
		}
		w := cells(shown, at)
		if r.width > 0 && at+w > most {
			if colored {
				out = append(out, resetColors...)
			}
			out = append(append(append(out, '\n'), r.cont...), state...)
			start = ansi.StringWidth(r.cont)
			at, most = start, max(r.width, start+minRoom)
			w = cells(shown, at)
		}
		out = append(out, shown...)
		at += w
	}
	if colored {
		out = append(out, resetColors...)
	}
	return append(out, '\n')
}

// cells is how many cells a token takes at a column. Each character counts on its own: terminals disagree on what
// becomes one picture, and to break a line too early is harmless.
func cells(shown string, at int) int {
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

func trimCR(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\r' {
		return line[:n-1]
	}
	return line
}

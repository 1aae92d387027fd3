package run

import (
	"io"
	"strings"
	"unicode/utf8"

	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/outcome"
	"github.com/fairlead-ssh/fairlead/session"
)

// maxPad bounds the width that prefixes are aligned to: one long name must not push all lines to the right.
const maxPad = 32

// live shows output as it comes: raw from a single host, in whole lines with the host's name from several.
type live struct {
	ios   *iostreams.IOStreams
	gate  *outcome.Gate
	raw   bool // of a single host: no lines are made of it
	exact bool // control characters are printed as they are
	width int  // of the names
}

func newLive(ios *iostreams.IOStreams, g *outcome.Gate, labels []string, exact bool) *live {
	l := &live{ios: ios, gate: g, raw: len(labels) == 1, exact: exact}
	for _, name := range labels {
		l.width = max(l.width, min(utf8.RuneCountInString(name), maxPad))
	}
	return l
}

// start returns the writers of one host.
func (l *live) start(t *target) (stdout, stderr io.Writer) {
	if l.raw {
		return l.gate.Out(), l.gate.Err()
	}
	t.out = l.lines(t, l.gate.Out(), l.ios.ColorOut(), l.ios.OutTTY, "36")
	t.err = l.lines(t, l.gate.Err(), l.ios.ColorErr(), l.ios.ErrTTY, "33")
	return t.out, t.err
}

func (l *live) lines(t *target, dst io.Writer, colored, tty bool, color string) *lines {
	name := t.label + strings.Repeat(" ", max(0, l.width-utf8.RuneCountInString(t.label)))
	paint := func(s string) string {
		if colored {
			return "\x1b[" + color + "m" + s + "\x1b[0m"
		}
		return s
	}
	return &lines{dst: dst, prefix: paint(name+" |") + " ", cont: paint(name+" +") + " ", shown: tty && !l.exact, width: l.ios.Width}
}

// done ends the host's last lines.
func (l *live) done(t *target, _ session.Result) {
	if t.out != nil {
		t.out.Flush()
		t.err.Flush()
	}
}

func (l *live) finish(*summary, int) {}

// Package iostreams is the program's view of its terminal.
//
// Results go to Out, everything else to Err. Both share one screen, so that a status line on a terminal is taken away
// before anything else is written, and prompts find an undisturbed line. Commands never touch os.Stdout.
package iostreams

import (
	"bytes"
	"io"
	"os"

	"golang.org/x/term"
)

// DefaultWidth is the width assumed where a terminal does not tell.
const DefaultWidth = 80

// IOStreams holds the standard streams and what is known about them.
type IOStreams struct {
	In  io.Reader
	Out *Stream // results only
	Err *Stream // progress, prompts, warnings, errors

	InTTY, OutTTY, ErrTTY bool
	NoColor               bool // nobody wants colour, whatever is a terminal

	screen *screen
	width  func() int
}

// System returns the process's streams. getenv is asked for NO_COLOR and TERM only.
func System(getenv func(string) string) *IOStreams {
	s := New(os.Stdin, os.Stdout, os.Stderr)
	s.InTTY = term.IsTerminal(int(os.Stdin.Fd()))
	s.OutTTY = term.IsTerminal(int(os.Stdout.Fd()))
	s.ErrTTY = term.IsTerminal(int(os.Stderr.Fd()))
	name := getenv("TERM") // without one nothing is known of the terminal
	s.NoColor = getenv("NO_COLOR") != "" || name == "" || name == "dumb"
	s.width = func() int {
		for _, f := range []*os.File{os.Stderr, os.Stdout} {
			if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
				return w
			}
		}
		return DefaultWidth
	}
	return s
}

// New returns streams that are not terminals.
func New(in io.Reader, out, errOut io.Writer) *IOStreams {
	sc := &screen{}
	out, errOut = newEnding(out, &sc.end), newEnding(errOut, &sc.end)
	sc.err = errOut
	return &IOStreams{
		In: in, Out: &Stream{screen: sc, w: out}, Err: &Stream{screen: sc, w: errOut},
		screen: sc, width: func() int { return DefaultWidth },
	}
}

// Test returns streams backed by buffers. The buffers must not be read while something may still write.
func Test() (s *IOStreams, in, out, errOut *bytes.Buffer) {
	in, out, errOut = &bytes.Buffer{}, &bytes.Buffer{}, &bytes.Buffer{}
	return New(in, out, errOut), in, out, errOut
}

// ColorOut and ColorErr report whether colour may be used on Out and Err.
func (s *IOStreams) ColorOut() bool { return s.OutTTY && !s.NoColor }

// ColorErr is ColorOut for Err.
func (s *IOStreams) ColorErr() bool { return s.ErrTTY && !s.NoColor }

// Width returns the width of the terminal behind Err, or Out, in cells.
func (s *IOStreams) Width() int { return s.width() }

// SetWidth makes Width return cells, for tests of what a narrow terminal shows.
func (s *IOStreams) SetWidth(cells int) { s.width = func() int { return cells } }

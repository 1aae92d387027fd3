// Package emulate draws a terminal's screen from its bytes, for package screen, by means of
// github.com/charmbracelet/x/vt. It stands apart so that programs that never look at a screen do not link an emulator.
package emulate

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"

	"github.com/fairlead-ssh/fairlead/session/screen"
)

// Render is a screen.Renderer: text only, no colours. Answers that the emulator makes to queries are thrown away. It
// panics when data asks for more work than a terminal program would; screen.Screen recovers.
func Render(p screen.Picture, data []byte) screen.Picture {
	// Each line feed may scroll, and there is no way to be told of them one by one.
	scrolls := max(len(data)/p.Cols, bytes.Count(data, []byte{'\n'})+bytes.Count(data, []byte{'\v'})+bytes.Count(data, []byte{'\f'}))
	if int64(scrolls)*int64(p.Cols*p.Rows) > maxWork {
		panic(tooMuch)
	}
	e := vt.NewEmulator(p.Cols, p.Rows)
	e.SetScrollbackSize(1) // nobody scrolls back
	discardReplies(e)
	guard(e)
	_, _ = io.WriteString(e, restore(p))
	_, _ = e.Write(data)

	out := screen.Picture{Cols: p.Cols, Rows: p.Rows, Modes: p.Modes}
	out.Modes.Alternate = e.IsAltScreen()
	if out.Modes.Alternate {
		out.Alt = page(e)
		_, _ = io.WriteString(e, "\x18\x1b[?1047l") // CAN ends what data left open
	}
	out.Main = page(e)
	return out
}

// discardReplies closes the pipe that the emulator writes its answers to. A write to it then fails at once, where it
// would otherwise wait for a reader for ever; the emulator does not look at the error.
func discardReplies(e *vt.Emulator) {
	c, ok := e.InputPipe().(io.Closer)
	if !ok {
		panic("emulate: the emulator's replies cannot be discarded")
	}
	_ = c.Close()
}

// maxWork is how many cells may be touched by sequences that touch many: a few bytes can ask for the whole screen, again
// and again. Real programs stay far below it; it bounds a drawing to seconds.
const (
	maxWork = 64 << 20
	tooMuch = "emulate: the output draws too much"
)

// guard puts bounds to what a few bytes can make the emulator do, and adds what it lacks. When the work is too much it
// panics, which a screen.Screen answers with plain text.
func guard(e *vt.Emulator) {
	cells, work := e.Width()*e.Height(), int64(0)
	spend := func(n int) {
		if work += int64(n); work > maxWork {
			panic(tooMuch)
		}
	}
	for _, final := range "@ABCDEFGIJKLMPSTXZabdehlr`" {
		e.RegisterCsiHandler(int(final), func(params ansi.Params) bool {
			most := cells
			switch final {
			case 'J', 'L', 'M', 'S', 'T':
				spend(cells)
			case '@', 'K', 'P', 'X':
				spend(e.Width())
			case 'I', 'Z': // a step for each
				most = e.Width()
				spend(16 * most)
			}
			for i := range params {
				if n := params[i].Param(0); n > most {
					params[i] = ansi.Param(most)
				}
			}
			if final == 'b' { // a character is dearer than a cell
				n, _, _ := params.Param(0, 1)
				n = min(n, most)
				spend(32 * n)
				for range min(n/e.Width(), e.Height()) { // lines that scroll
					spend(cells)
				}
			}
			return false
		})
	}
	for _, final := range "hl" { // 47 is 1047's older name
		e.RegisterCsiHandler(ansi.Command('?', 0, byte(final)), func(params ansi.Params) bool {
			for i := range params {
				switch params[i].Param(0) {
				case 47:
					params[i] = ansi.Param(1047)
					spend(cells)
				case 1047, 1049:
					spend(cells)
				}
			}
			return false
		})
	}
	for _, final := range "cDEM" { // reset, and line feeds in both directions, which may scroll
		e.RegisterEscHandler(int(final), func() bool {
			spend(cells)
			return false
		})
	}
}

// restore is what makes a new emulator show p.
func restore(p screen.Picture) string {
	var b strings.Builder
	b.WriteString("\x1b[?7l")
	write := func(pg screen.Page) {
		for i, line := range pg.Lines[:min(len(pg.Lines), p.Rows)] {
			fmt.Fprintf(&b, "\x1b[%d;1H%s", i+1, line)
		}
	}
	place := func(pg screen.Page) { fmt.Fprintf(&b, "\x1b[%d;%dH", max(pg.Row, 0)+1, max(pg.Col, 0)+1) }
	write(p.Main)
	place(p.Main)
	m := p.Modes
	if m.Alternate {
		b.WriteString("\x1b[?1049h")
		write(p.Alt)
	}
	if m.Top > 0 || m.Bottom > 0 {
		fmt.Fprintf(&b, "\x1b[%d;%dr", m.Top, m.Bottom)
	}
	if m.Alternate {
		place(p.Alt)
	} else {
		place(p.Main)
	}
	for i, draws := range m.Drawing {
		if draws {
			b.WriteString("\x1b" + string("()"[i]) + "0")
		}
	}
	if m.Shifted {
		b.WriteByte(0x0e)
	}
	if !m.NoWrap {
		b.WriteString("\x1b[?7h")
	}
	return b.String()
}

// page reads the screen that is shown.
func page(e *vt.Emulator) screen.Page {
	at := e.CursorPosition()
	pg := screen.Page{Lines: make([]string, e.Height()), Row: at.Y, Col: at.X}
	var b strings.Builder
	for y := range pg.Lines {
		b.Reset()
		for x := 0; x < e.Width(); {
			c := e.CellAt(x, y)
			x += writeCell(&b, c)
		}
		pg.Lines[y] = strings.TrimRight(b.String(), " ")
	}
	return pg
}

// writeCell writes a cell's text and says how many columns it takes.
func writeCell(b *strings.Builder, c *uv.Cell) int {
	if c == nil || c.Content == "" {
		b.WriteByte(' ')
		return 1
	}
	b.WriteString(c.Content)
	return max(c.Width, 1)
}

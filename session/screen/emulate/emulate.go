// Package emulate draws a terminal's screen from its bytes, for package screen, by means of
// github.com/charmbracelet/x/vt. It stands apart so that programs that never look at a screen do not link an emulator.
package emulate

import (
	"fmt"
	"io"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"

	"github.com/fairlead-ssh/fairlead/session/screen"
)

// Render is a screen.Renderer: text only, no colours. Answers that the emulator makes to queries are thrown away.
func Render(p screen.Picture, data []byte) screen.Picture {
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

// guard puts bounds to what a few bytes can make the emulator do, and adds what it lacks.
func guard(e *vt.Emulator) {
	limit := e.Width() * e.Height()
	for _, final := range "@ABCDEFGILMPSTXZabde`" {
		e.RegisterCsiHandler(int(final), func(params ansi.Params) bool {
			for i := range params {
				if n := params[i].Param(0); n > limit {
					params[i] = ansi.Param(limit)
				}
			}
			return false
		})
	}
	for _, final := range "hl" { // 47 is 1047's older name
		e.RegisterCsiHandler(ansi.Command('?', 0, byte(final)), func(params ansi.Params) bool {
			for i := range params {
				if params[i].Param(0) == 47 {
					params[i] = ansi.Param(1047)
				}
			}
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

package screen

import (
	"bytes"
	"strings"
	"sync"
	"time"
)

// The defaults of Config.
const (
	DefaultCols   = 80
	DefaultRows   = 24
	DefaultMemory = 256 << 10
)

// maxSize bounds columns and rows: a renderer pays for each cell.
const maxSize = 500

// Config describes a Screen. The zero value is a terminal of 80 columns and 24 rows without a renderer.
type Config struct {
	Cols, Rows int // zero means 80 and 24; at most 500 are taken
	// Memory is how many of the last bytes are held to draw from. Zero means 256 KiB; less than 8 KiB is 8 KiB.
	Memory int
	// Render draws. Nil means that Screen.Render shows the last lines as plain text and knows no positions.
	Render Renderer
}

// Picture is what both screens of a terminal show, as far as text goes.
type Picture struct {
	Cols, Rows int
	Modes      Modes
	Main, Alt  Page // Alt only matters while Modes.Alternate is set
}

// Page is one screen's text. Row and Col are the cursor's, from 0. Lines has at most as many lines as the terminal;
// blanks at a line's end are left out.
type Page struct {
	Lines    []string
	Row, Col int
}

// Renderer draws data on a picture, as a terminal of the picture's size would, and returns what it then shows. It holds
// on to nothing, answers none of the queries in data, and takes any bytes. Of the modes it gets those at data's start;
// it need not keep them up.
type Renderer func(p Picture, data []byte) Picture

// View is what somebody in front of the terminal sees: text without control sequences.
type View struct {
	Lines     []string // from the top, no more than the terminal has; blanks at their ends and empty last lines are left out
	Row, Col  int      // of the cursor, from 0; -1 where nobody drew
	Alternate bool     // a full-screen program is at work
	Title     string   // of the window, if a program set one; made by the program: text of the host
}

// Screen is a terminal that somebody may look at. It keeps the last bytes and draws only when asked, or when bytes go
// out of memory that are still to be seen (a full-screen program's, or a line written over and over). All methods may
// be called at the same time.
type Screen struct {
	render Renderer
	half   int // bytes of old, and of fresh

	mu      sync.Mutex
	base    Picture // before old
	carry   []byte  // a sequence that began before old
	old     []byte
	fresh   []byte
	now     Modes
	pending []byte // a sequence that has come in part, for now
	version uint64
	view    *View // of seen
	seen    uint64
}

// New returns a Screen.
func New(c Config) *Screen {
	if c.Memory == 0 {
		c.Memory = DefaultMemory
	}
	s := &Screen{render: c.Render, half: max(c.Memory, 8<<10) / 2}
	s.base.Cols, s.base.Rows = bounded(c.Cols, DefaultCols), bounded(c.Rows, DefaultRows)
	return s
}

func bounded(n, zero int) int {
	if n <= 0 {
		return zero
	}
	return min(n, maxSize)
}

// Write takes what the terminal was sent. It never fails.
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(p)
	if n > 0 {
		s.version++
	}
	s.pending = follow(&s.now, s.pending, p)
	for len(p) > 0 {
		m := min(len(p), s.half-len(s.fresh))
		s.fresh = append(s.fresh, p[:m]...)
		p = p[m:]
		if len(s.fresh) == s.half {
			s.turn()
		}
	}
	return n, nil
}

// follow tracks modes through before and p, and returns what of them is a sequence cut at the end.
func follow(m *Modes, before, p []byte) []byte {
	if len(before) > 0 {
		p = append(before, p...)
	}
	at := m.track(p)
	if at == len(p) {
		return nil
	}
	return shorten(p[at:])
}

// shorten copies a sequence that is not ended yet. Of a very long one, which is a string nobody will read, the
// beginning is enough to know that it goes on.
func shorten(p []byte) []byte {
	c := append([]byte(nil), p[:min(len(p), maxCarry)]...)
	if len(p) > maxCarry && p[len(p)-1] == 0x1b {
		c = append(c, 0x1b) // the end may have begun
	}
	return c
}

// turn lets the older half go.
func (s *Screen) turn() {
	if len(s.old) > 0 {
		data := append(s.carry, s.old...)
		modes := s.base.Modes
		at := modes.track(data)
		s.carry = shorten(data[at:])
		after := Picture{Cols: s.base.Cols, Rows: s.base.Rows, Modes: modes}
		if skippable(after, s.fresh) == 0 {
			after = s.draw(s.base, data[:at])
			after.Modes = modes
		}
		s.base = after
	}
	s.old, s.fresh = s.fresh, s.old[:0]
	if s.fresh == nil {
		s.fresh = make([]byte, 0, s.half)
	}
}

// draw never panics: what cannot be drawn is shown as plain text.
func (s *Screen) draw(p Picture, data []byte) (out Picture) {
	if at := skippable(p, data); at > 0 {
		p.Modes.track(data[:at])
		p.Main, p.Alt = Page{}, Page{}
		data = data[at:]
	}
	if s.render == nil {
		return plainText(p, data)
	}
	defer func() {
		if recover() != nil {
			out = plainText(p, data)
		}
	}()
	return s.render(p, data)
}

// plainText is the last lines of data after those of p.
func plainText(p Picture, data []byte) Picture {
	text, _ := Clean(string(data))
	page := &p.Main
	if p.Modes.track(data); p.Modes.Alternate {
		page = &p.Alt
	}
	lines := append([]string(nil), page.Lines...)
	more := strings.Split(text, "\n")
	if len(lines) > 0 {
		lines[len(lines)-1] += more[0]
		more = more[1:]
	}
	lines = append(lines, more...)
	for i := range lines {
		lines[i] = ending(strings.TrimRight(lines[i], " "), maxPlain)
	}
	*page = Page{Lines: lines[max(0, len(lines)-p.Rows):], Row: -1, Col: -1}
	return p
}

// Modes returns the modes the terminal is in now.
func (s *Screen) Modes() Modes {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

// Resize changes the terminal's size; zero means the default. What was drawn stays where it was, and is cut where the
// terminal is smaller: programs draw anew.
func (s *Screen) Resize(cols, rows int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	cols, rows = bounded(cols, DefaultCols), bounded(rows, DefaultRows)
	if cols == s.base.Cols && rows == s.base.Rows {
		return
	}
	s.version++
	data := append(append(s.carry, s.old...), s.fresh...)
	modes := s.base.Modes
	at := modes.track(data)
	s.base = s.draw(s.base, data[:at])
	s.carry = shorten(data[at:])
	s.old, s.fresh = s.old[:0], s.fresh[:0]
	modes.Top, modes.Bottom = 0, 0
	s.now.Top, s.now.Bottom = 0, 0
	s.base.Modes, s.base.Cols, s.base.Rows = modes, cols, rows
	s.base.Main.crop(rows)
	s.base.Alt.crop(rows)
}

// crop leaves the rows from the first on, or those up to the cursor where it would fall off.
func (p *Page) crop(rows int) {
	skip := min(max(p.Row-rows+1, 0), len(p.Lines))
	p.Lines = p.Lines[skip:]
	p.Lines = p.Lines[:min(len(p.Lines), rows)]
	p.Row = max(p.Row-skip, 0)
}

// Render draws the screen as it is now, from the bytes held; an unchanged screen is not drawn again. At the speed of a
// terminal emulator this may take a tenth of a second. The View is the caller's.
func (s *Screen) Render() View {
	s.mu.Lock()
	if s.view != nil && s.seen == s.version {
		defer s.mu.Unlock()
		return s.view.copy()
	}
	version, base, now := s.version, s.base, s.now
	data := bytes.Join([][]byte{s.carry, s.old, s.fresh}, nil)
	s.mu.Unlock()

	p := s.draw(base, data)
	page := p.Main
	if now.Alternate {
		page = p.Alt
	}
	v := View{Lines: page.Lines, Row: page.Row, Col: page.Col, Alternate: now.Alternate, Title: now.Title}
	for len(v.Lines) > 0 && v.Lines[len(v.Lines)-1] == "" {
		v.Lines = v.Lines[:len(v.Lines)-1]
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.version == version {
		s.view, s.seen = &v, version
	}
	return v.copy()
}

func (v View) copy() View {
	v.Lines = append([]string(nil), v.Lines...)
	return v
}

// Text is the lines, each with its end.
func (v View) Text() string {
	if len(v.Lines) == 0 {
		return ""
	}
	return strings.Join(v.Lines, "\n") + "\n"
}

// maxPlain is how many bytes of a line are shown where nobody draws.
const maxPlain = 4 << 10

// tailSize is how much of the end Recognise gets.
const tailSize = 4 << 10

// Watch says what the program seems to wait for, from the last bytes; it does not draw. silence is the time since the
// last byte came, and echoOff says that the caller knows the terminal's echo to be off.
func (s *Screen) Watch(silence time.Duration, echoOff bool) Waiting {
	s.mu.Lock()
	tail := make([]byte, 0, tailSize)
	n := max(0, tailSize-len(s.fresh))
	tail = append(tail, s.old[len(s.old)-min(n, len(s.old)):]...)
	tail = append(tail, s.fresh[len(s.fresh)-min(tailSize, len(s.fresh)):]...)
	alternate := s.now.Alternate
	s.mu.Unlock()
	return Recognise(Look{Tail: tail, Alternate: alternate, EchoOff: echoOff, Silence: silence})
}

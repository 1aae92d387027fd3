package screen

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Modes is what a program has told its terminal to be. The zero value is a terminal just switched on.
type Modes struct {
	Alternate    bool    // the second screen of full-screen programs
	AppCursor    bool    // arrow keys, Home and End send their application form; see Keys
	CursorHidden bool    //
	NoWrap       bool    // a full line does not go on in the next one
	Paste        bool    // pasted text is bracketed
	Top, Bottom  int     // the lines that scroll, from 1; zero means all
	Drawing      [2]bool // character sets G0 and G1 draw lines
	Shifted      bool    // G1 is in use
	OtherKeys    bool    // keys with modifiers are reported in xterm's longer form
	KeyFlags     int     // how often the keyboard was put into another form, in the way of kitty, and not back
	Title        string  // of the window, at most 256 bytes
}

const (
	maxTitle    = 256
	maxKeyFlags = 64      // what terminals keep is less
	maxParams   = 128     // bytes of a control sequence's parameters that are looked at
	maxCarry    = 4 << 10 // bytes of a sequence not yet ended that are kept
)

// track follows the modes through p, which begins outside of any sequence, and returns where a sequence or character
// begins that p's end cuts; len(p) when there is none.
func (m *Modes) track(p []byte) int {
	for i := 0; i < len(p); {
		switch p[i] {
		case 0x1b:
			s := parseEscape(p[i:])
			if !s.ended {
				return i
			}
			m.apply(s)
			i += s.size
		case 0x0e, 0x0f: // shift out, shift in
			m.Shifted = p[i] == 0x0e
			i++
		default:
			i++
		}
	}
	for k := 1; k < utf8.UTFMax && k <= len(p); k++ {
		if c := p[len(p)-k]; utf8.RuneStart(c) {
			if !utf8.FullRune(p[len(p)-k:]) {
				return len(p) - k
			}
			break
		}
	}
	return len(p)
}

func (m *Modes) apply(s escape) {
	if s.torn {
		return
	}
	switch s.kind {
	case '[':
		m.control(s)
	case ']':
		what, title, ok := strings.Cut(string(s.body[:min(len(s.body), maxTitle+2)]), ";")
		if ok && (what == "0" || what == "2") {
			m.Title = strings.ToValidUTF8(title, "")
		}
	case 0:
		switch {
		case len(s.body) == 1 && s.body[0] == 'c': // reset
			*m = Modes{}
		case len(s.body) == 2 && (s.body[0] == '(' || s.body[0] == ')'):
			m.Drawing[s.body[0]-'('] = s.body[1] == '0'
		}
	}
}

func (m *Modes) control(s escape) {
	switch {
	case s.final == 'r' && s.mark == 0:
		n := s.numbers()
		m.Top, m.Bottom = n.at(0), n.at(1)
	case s.final == 'm' && s.mark == '>':
		if n := s.numbers(); n.at(0) == 4 || len(s.body) == 0 {
			m.OtherKeys = n.at(1) > 0
		}
	case s.final == 'u' && s.mark == '>':
		m.KeyFlags = min(m.KeyFlags+1, maxKeyFlags)
	case s.final == 'u' && s.mark == '<':
		n := s.numbers()
		m.KeyFlags = max(m.KeyFlags-max(n.at(0), 1), 0)
	case s.final == 'p' && string(s.body) == "!": // soft reset
		m.AppCursor, m.CursorHidden, m.NoWrap, m.Top, m.Bottom = false, false, false, 0, 0
	case (s.final == 'h' || s.final == 'l') && s.mark == '?':
		set := s.final == 'h'
		n := s.numbers()
		for i := range n.count {
			switch n.n[i] {
			case 1:
				m.AppCursor = set
			case 7:
				m.NoWrap = !set
			case 25:
				m.CursorHidden = !set
			case 47, 1047, 1049:
				m.Alternate = set
			case 2004:
				m.Paste = set
			}
		}
	}
}

// escape is one sequence that begins with ESC.
type escape struct {
	kind  byte   // '[' control, ']' command, 'P' 'X' '^' '_' other strings, 0 the rest
	mark  byte   // of a control sequence: ? > < =
	body  []byte // parameters and intermediates; or the string; or what follows ESC
	final byte   // of a control sequence
	size  int
	ended bool // false: more bytes are needed
	torn  bool // something else broke in
}

// parseEscape reads the sequence at the start of p, which is an ESC.
func parseEscape(p []byte) escape {
	if len(p) < 2 {
		return escape{size: len(p)}
	}
	switch c := p[1]; {
	case c == '[':
		return parseControl(p, 2)
	case c == ']' || c == 'P' || c == 'X' || c == '^' || c == '_':
		return parseString(p, 2, c)
	}
	i := 1
	for i < len(p) && p[i] >= 0x20 && p[i] <= 0x2f {
		i++
	}
	switch {
	case i == len(p):
		return escape{size: i}
	case p[i] < 0x30 || p[i] > 0x7e:
		return escape{size: i, ended: true, torn: true}
	}
	return escape{body: p[1 : i+1], size: i + 1, ended: true}
}

// parseControl reads a control sequence whose parameters begin at i.
func parseControl(p []byte, i int) escape {
	e := escape{kind: '['}
	if i < len(p) && p[i] >= '<' && p[i] <= '?' {
		e.mark = p[i]
		i++
	}
	start := i
	for i < len(p) && p[i] >= 0x20 && p[i] <= 0x3f {
		i++
	}
	e.body = p[start:min(i, start+maxParams)]
	e.size = i
	switch {
	case i == len(p):
		return e
	case p[i] < 0x40 || p[i] > 0x7e:
		e.ended, e.torn = true, true
		return e
	}
	e.final, e.size, e.ended = p[i], i+1, true
	return e
}

// parseString reads a string sequence whose content begins at i. BEL or ESC \ ends it, another ESC, CAN or SUB break it.
func parseString(p []byte, i int, kind byte) escape {
	e := escape{kind: kind, size: len(p)}
	n := bytes.IndexAny(p[i:], "\a\x1b\x18\x1a")
	if n < 0 {
		e.body = p[i:]
		return e
	}
	e.body = p[i : i+n]
	switch end := i + n; {
	case p[end] == '\a':
		e.size, e.ended = end+1, true
	case p[end] != 0x1b:
		e.size, e.ended, e.torn = end, true, true
	case end+1 == len(p):
	case p[end+1] == '\\':
		e.size, e.ended = end+2, true
	default:
		e.size, e.ended, e.torn = end, true, true
	}
	return e
}

// numbers are a control sequence's parameters.
type numbers struct {
	n     [16]int
	count int
}

func (n numbers) at(i int) int {
	if i >= n.count {
		return 0
	}
	return n.n[i]
}

func (s escape) numbers() (n numbers) {
	n.count = 1
	for _, c := range s.body {
		switch {
		case c >= '0' && c <= '9':
			if v := &n.n[n.count-1]; *v < 1<<16 {
				*v = *v*10 + int(c-'0')
			}
		case c == ';':
			if n.count == len(n.n) {
				return n
			}
			n.count++
		default:
			return n
		}
	}
	return n
}

package audit

import (
	"io"
	"strings"
	"unicode/utf8"
)

// restoreTerminal ends what a recording may have switched on: another screen, another character set, a scrolling region,
// colours, a hidden cursor, no wrapping.
const restoreTerminal = "\x1b[?1049l\x1b[?1;5;6l\x1b[?7;25h\x1b[4l\x1b(B\x0f\x1b7\x1b[r\x1b8\x1b[0m\r\n"

// safeWriter passes on what shows something on a terminal and leaves out what makes it do more: sequences that ask it
// something (the answer would be typed), that set its title or the clipboard, that switch on the reporting of keys, mouse
// or focus, and strings that only some terminals understand. What it does not know it leaves out.
//
// It keeps its place in a sequence over writes, so that no border hides one.
type safeWriter struct {
	w     io.Writer
	state byte   // 0, ESC, '[' for a control sequence, ']' for a string, '(' for what takes one more character
	seq   []byte // of the sequence so far
	esc   bool   // in a string: the last byte was ESC
	part  []byte // the beginning of a character
}

// maxSeq bounds a control sequence; longer ones are left out.
const maxSeq = 256

func (s *safeWriter) Write(p []byte) (int, error) {
	in := append(s.part, p...)
	s.part = nil
	var out strings.Builder
	for len(in) > 0 {
		if !utf8.FullRune(in) && len(in) < utf8.UTFMax {
			s.part = append([]byte(nil), in...)
			break
		}
		r, n := utf8.DecodeRune(in)
		s.next(&out, r)
		in = in[n:]
	}
	if _, err := io.WriteString(s.w, out.String()); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (s *safeWriter) next(out *strings.Builder, r rune) {
	switch s.state {
	case 0:
		s.ground(out, r)
	case 0x1b:
		s.escape(out, r)
	case '(':
		s.state = 0
		if strings.ContainsRune("0AB", r) {
			out.WriteString("\x1b" + string(s.seq) + string(r))
		}
	case '[':
		s.control(out, r)
	case ']':
		switch {
		case r == 0x07, r == 0x9c, r == 0x18, r == 0x1a, s.esc && r == '\\':
			s.state = 0
		case s.esc && r != 0x1b: // ESC ends a string; what follows begins anew
			s.state, s.esc = 0x1b, false
			s.escape(out, r)
			return
		}
		s.esc = s.state == ']' && r == 0x1b
	}
}

func (s *safeWriter) ground(out *strings.Builder, r rune) {
	switch {
	case r == 0x1b:
		s.state = 0x1b
	case r == 0x9b:
		s.state, s.seq = '[', s.seq[:0]
	case r == 0x90 || r == 0x98 || r == 0x9d || r == 0x9e || r == 0x9f:
		s.state, s.esc = ']', false
	case r == '\n' || r == '\r' || r == '\t' || r == '\b' || r == 0x0e || r == 0x0f:
		out.WriteRune(r)
	case r >= 0x20 && r < 0x7f || r >= 0xa0:
		out.WriteRune(r)
	}
}

func (s *safeWriter) escape(out *strings.Builder, r rune) {
	s.state = 0
	switch {
	case r == '[':
		s.state, s.seq = '[', s.seq[:0]
	case r == ']' || r == 'P' || r == 'X' || r == '^' || r == '_':
		s.state, s.esc = ']', false
	case r == '(' || r == ')':
		s.state, s.seq = '(', append(s.seq[:0], byte(r))
	case r == 0x1b:
		s.state = 0x1b
	case strings.ContainsRune("78DEM", r):
		out.WriteString("\x1b" + string(r))
	case r < 0x20:
		s.ground(out, r)
	}
}

// control takes the next character of a control sequence (ECMA-48 5.4).
func (s *safeWriter) control(out *strings.Builder, r rune) {
	switch {
	case r == 0x1b:
		s.state = 0x1b
	case r >= 0x20 && r < 0x40:
		if s.seq = append(s.seq, byte(r)); len(s.seq) > maxSeq {
			s.seq = append(s.seq[:0], '<') // of no sequence that is passed on
		}
	case r >= 0x40 && r < 0x7f:
		s.state = 0
		if harmless(string(s.seq), byte(r)) {
			out.WriteString("\x1b[" + string(s.seq) + string(r))
		}
	case r < 0x20:
		if r == 0x18 || r == 0x1a {
			s.state = 0
			return
		}
		s.ground(out, r) // a terminal obeys it in the middle of a sequence
	default:
		s.state = 0
	}
}

// harmless reports whether a control sequence does no more than to show something (xterm's ctlseqs).
func harmless(params string, final byte) bool {
	mode, private := strings.CutPrefix(params, "?")
	if private && (final == 'h' || final == 'l') {
		for n := range strings.SplitSeq(mode, ";") {
			switch n {
			case "1", "5", "6", "7", "12", "25", "47", "1047", "1048", "1049", "2026":
			default:
				return false
			}
		}
		return true
	}
	if strings.ContainsFunc(params, func(r rune) bool { return (r < '0' || r > '9') && r != ';' && r != ':' }) {
		return false
	}
	if final == 'h' || final == 'l' {
		return params == "4" // insert
	}
	return strings.IndexByte("@ABCDEFGHIJKLMPSTXZ`abdefgmrsu", final) >= 0
}

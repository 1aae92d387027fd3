package screen

import "bytes"

// skippable says how many bytes at data's start leave nothing on a screen that shows p first: what they drew has
// scrolled away. It knows that when twice as many line ends as the screen has lines came one after the other, with
// nothing in between that moves to another line: the first of them bring the cursor to the bottom, the rest scroll.
func skippable(p Picture, data []byte) int {
	if bytes.Count(data, []byte{'\n'}) < 2*p.Rows {
		return 0
	}
	m := p.Modes
	starts, count := make([]int, p.Rows), 0 // of the last lines, as a ring
	for i := 0; i < len(data); {
		switch data[i] {
		case 0x1b:
			s := parseEscape(data[i:])
			alternate := m.Alternate
			if m.apply(s); alternate != m.Alternate || leavesLine(s) {
				count = 0
			}
			i += s.size
		case '\n':
			i++
			if i > 1 && data[i-2] == '\r' { // without it the next line begins in the middle
				starts[count%p.Rows] = i
				count++
			}
		default:
			i++
		}
	}
	if count < 2*p.Rows || m.Alternate || m.Top > 0 || m.Bottom > 0 {
		return 0
	}
	return starts[count%p.Rows]
}

// leavesLine says whether a sequence may do more than to write in its line.
func leavesLine(s escape) bool {
	switch s.kind {
	case '[':
		switch {
		case s.mark == 0:
			return bytes.IndexByte([]byte("@CDGKPX`amcnqt"), s.final) < 0
		case s.final == 'h' || s.final == 'l':
			n := s.numbers()
			for i := range n.count {
				switch n.n[i] {
				case 3, 6, 69: // width, origin, margins
					return true
				}
			}
		}
		return false
	case 0:
		return len(s.body) == 1 && s.body[0] != '=' && s.body[0] != '>' || len(s.body) > 1 && s.body[0] == '#'
	}
	return false
}

package programs

import "strings"

// sedCheck reads the scripts of a sed call. sed joins -e pieces by newlines, and so does this.
func sedCheck(c *call) {
	at := c.node.lookup("-e")
	text, given := "", false
	for _, v := range c.vals {
		if v.at != at {
			continue
		}
		if !v.arg.certain() {
			c.say(unknown, "has a script that isn't literal")
			return
		}
		if given {
			text += "\n"
		}
		text, given = text+v.arg.Text, true
	}
	ops := c.ops
	if !given && !c.has("-f") {
		if len(ops) == 0 {
			return
		}
		if !ops[0].certain() {
			c.say(unknown, "has a script that isn't literal")
			return
		}
		text, ops = ops[0].Text, ops[1:]
	}
	if c.has("-i") {
		for _, a := range ops {
			c.path(a, true)
		}
	}
	s := sedScript{c: c, src: text}
	if !s.run() {
		c.say(unknown, "has a script that this reader does not understand")
	}
	if s.loops && s.jumps || s.restarts && s.grows {
		c.say(endless, "has a script that may never end")
	}
}

type sedScript struct {
	c     *call
	src   string
	depth int

	loops, jumps    bool // a label after which no line is read at once, and a jump to one
	restarts, grows bool // D begins anew with what is left, which something makes longer
}

func (s *sedScript) peek() byte {
	if s.src == "" {
		return 0
	}
	return s.src[0]
}

func (s *sedScript) skip(chars string) { s.src = strings.TrimLeft(s.src, chars) }

func (s *sedScript) run() bool {
	for {
		s.skip(" \t\n;")
		if s.src == "" {
			return s.depth == 0
		}
		if !s.addresses() || !s.command() {
			return false
		}
	}
}

func (s *sedScript) addresses() bool {
	found, ok := s.address(false)
	if !ok {
		return false
	}
	if found {
		s.skip(" \t")
		if s.peek() == ',' {
			s.src = s.src[1:]
			s.skip(" \t")
			if found, ok = s.address(true); !found || !ok {
				return false
			}
		}
	}
	s.skip(" \t")
	for s.peek() == '!' {
		s.src = s.src[1:]
		s.skip(" \t")
	}
	return true
}

const digits = "0123456789"

func (s *sedScript) address(second bool) (found, ok bool) {
	switch b := s.peek(); {
	case b == '$':
		s.src = s.src[1:]
		return true, true
	case '0' <= b && b <= '9', second && (b == '+' || b == '~'):
		s.skip(digits)
		if p := s.peek(); p == '~' || p == '+' && second {
			s.src = s.src[1:]
			s.skip(digits)
		}
		return true, true
	case b == '/', b == '\\':
		if b == '\\' {
			s.src = s.src[1:]
		}
		if len(s.src) < 2 || s.src[0] == '\n' || s.src[0] == '\\' || s.src[0] >= 128 {
			return true, false
		}
		delim := s.src[0]
		s.src = s.src[1:]
		if !s.until(delim, true) {
			return true, false
		}
		s.skip("IM")
		return true, true
	}
	return false, true
}

// until reads to the delimiter. Whether a delimiter inside brackets ends a pattern depends on the sed: not understood.
func (s *sedScript) until(delim byte, pattern bool) bool {
	open, start := false, 0
	for i := 0; i < len(s.src); i++ {
		switch b := s.src[i]; {
		case b == '\n':
			return false
		case b == delim:
			if open {
				return false
			}
			s.src = s.src[i+1:]
			return true
		case b == '\\' && i+1 < len(s.src):
			// Inside brackets a backslash is plain to some and an escape to others.
			if open && (s.src[i+1] == delim || s.src[i+1] == ']' || s.src[i+1] == '\\') {
				return false
			}
			i++
		case b == '[' && pattern && !open:
			open, start = true, i+1
			if start < len(s.src) && s.src[start] == '^' {
				start++
			}
		case b == '[' && open && i+1 < len(s.src) && strings.IndexByte(":.=", s.src[i+1]) >= 0:
			end := strings.Index(s.src[i+2:], s.src[i+1:i+2]+"]")
			if end < 0 || strings.IndexByte(s.src[i+2:i+2+end], delim) >= 0 {
				return false
			}
			i += 2 + end + 1
		case b == ']' && open && i > start:
			open = false
		}
	}
	return false
}

// line takes the rest of the line: file names and text know no other end.
func (s *sedScript) line() string {
	text, rest, _ := strings.Cut(s.src, "\n")
	s.src = rest
	return strings.TrimLeft(text, " \t")
}

// end wants nothing more in this command.
func (s *sedScript) end() bool {
	s.skip(" \t")
	switch s.peek() {
	case 0, '\n', ';', '}', '#':
		return true
	}
	return false
}

func (s *sedScript) command() bool {
	if s.src == "" {
		return false
	}
	b := s.src[0]
	s.src = s.src[1:]
	switch b {
	case '{':
		s.depth++
		return true
	case '}':
		s.depth--
		return s.depth >= 0 && s.end()
	case '#':
		s.line()
		return true
	case '=', 'd', 'D', 'g', 'G', 'h', 'H', 'n', 'N', 'p', 'P', 'x', 'z', 'F':
		s.restarts = s.restarts || b == 'D'
		s.grows = s.grows || b == 'G' || b == 'g' || b == 'x'
		return s.end()
	case 'l', 'L', 'q', 'Q':
		s.skip(" \t")
		s.skip(digits)
		return s.end()
	case ':', 'b', 't', 'T':
		s.skip(" \t")
		before := len(s.src)
		s.skip(identifier)
		if b != ':' {
			s.jumps = s.jumps || len(s.src) < before
			return s.end()
		}
		next := strings.TrimLeft(s.src, " \t\n;")
		s.loops = s.loops || !strings.HasPrefix(next, "N") && !strings.HasPrefix(next, "n")
		return s.end()
	case 'a', 'i', 'c':
		// One line, and more while a line ends in a backslash.
		for {
			text := s.line()
			if n := len(text) - len(strings.TrimRight(text, `\`)); n%2 == 0 || s.src == "" {
				return true
			}
		}
	case 's':
		s.grows = true
		return s.substitute()
	case 'y':
		s.c.say(recode, "has a script that maps letters")
		delim, ok := s.delimiter()
		return ok && s.until(delim, false) && s.until(delim, false) && s.end()
	case 'r', 'R':
		s.c.path(word(s.line()), false)
		return true
	case 'w', 'W':
		s.writes()
		return true
	case 'e':
		s.runs()
		return true
	}
	return false
}

func (s *sedScript) writes() {
	s.c.path(word(s.line()), true)
	s.c.say(write, "has a script that writes a file")
}

func (s *sedScript) runs() {
	if text := s.line(); text != "" {
		s.c.script("sh", word(text))
	}
	s.c.say(unknown, "has a script that runs a command")
}

func (s *sedScript) delimiter() (byte, bool) {
	if s.src == "" || s.src[0] == '\n' || s.src[0] == '\\' || s.src[0] >= 128 {
		return 0, false
	}
	b := s.src[0]
	s.src = s.src[1:]
	return b, true
}

func (s *sedScript) substitute() bool {
	delim, ok := s.delimiter()
	if !ok || !s.until(delim, true) {
		return false
	}
	// A replacement may hold newlines after a backslash; until treats them as escaped.
	if !s.until(delim, false) {
		return false
	}
	for s.src != "" {
		switch b := s.src[0]; {
		case strings.IndexByte("gpiImM"+digits, b) >= 0:
			s.src = s.src[1:]
		case b == 'w':
			s.src = s.src[1:]
			s.writes()
			return true
		case b == 'e':
			s.c.say(unknown, "has a script that runs a command")
			s.src = s.src[1:]
		default:
			return s.end()
		}
	}
	return true
}

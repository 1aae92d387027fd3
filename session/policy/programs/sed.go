package programs

import (
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// sedCheck reads the scripts of a sed call. sed joins -e pieces by newlines, and so does this.
func sedCheck(c *call) {
	pieces, ops := c.values("-e"), c.ops
	if len(pieces) == 0 && !c.has("-f") && len(ops) > 0 {
		pieces, ops = ops[:1], ops[1:]
	}
	text := ""
	for _, a := range pieces {
		if !a.certain() {
			c.say(unknown, "has a script that isn't literal")
			return
		}
		text += a.Text + "\n"
	}
	if c.has("-i") {
		for _, a := range ops {
			c.path(a, true)
		}
	}
	s := sedScript{source: source{text}, c: c}
	if !s.run() {
		c.say(unknown, "has a script that this reader does not understand")
	}
	if s.loops && s.jumps || s.restarts && s.grows {
		c.say(endless, "has a script that may never end")
	}
}

// source is a text that is read from the beginning.
type source struct{ text string }

// eat takes what a regular expression finds at the beginning.
func (s *source) eat(re *lazyregexp.Regexp) string {
	found := ""
	if at := re.FindStringIndex(s.text); at != nil {
		found, s.text = s.text[:at[1]], s.text[at[1]:]
	}
	return found
}

// delimited takes the rest of a pattern or text, with the delimiter that ends it. Whether a delimiter inside brackets ends a
// pattern depends on the program, and so does a backslash there, unless it escapes: that is not understood.
func (s *source) delimited(delim byte, pattern, escapes bool) bool {
	open, start := false, 0
	for i := 0; i < len(s.text); i++ {
		switch b := s.text[i]; {
		case b == '\n', b == delim && open:
			return false
		case b == delim:
			s.text = s.text[i+1:]
			return true
		case b == '\\' && i+1 < len(s.text):
			if next := s.text[i+1]; open && (next == ']' || !escapes && (next == delim || next == '\\')) {
				return false
			}
			i++
		case b == '[' && pattern && !open:
			open, start = true, i+1
			if start < len(s.text) && s.text[start] == '^' {
				start++
			}
		case b == '[' && open && i+1 < len(s.text) && strings.IndexByte(":.=", s.text[i+1]) >= 0:
			end := strings.Index(s.text[i+2:], s.text[i+1:i+2]+"]")
			if end < 0 || strings.IndexByte(s.text[i+2:i+2+end], delim) >= 0 {
				return false
			}
			i += 2 + end + 1
		case b == ']' && open && i > start:
			open = false
		}
	}
	return false
}

type sedScript struct {
	source
	c     *call
	depth int

	loops, jumps    bool // a label after which no line is read at once, and a jump to one
	restarts, grows bool // D begins anew with what is left, which something makes longer
}

var (
	sedBlank   = lazyregexp.New(`^[ \t\n;]+`)
	sedFirst   = lazyregexp.New(`^(?:\$|[0-9]+(?:~[0-9]*)?)`)
	sedSecond  = lazyregexp.New(`^(?:\$|[0-9]+(?:[~+][0-9]*)?|[~+][0-9]*)`)
	sedComma   = lazyregexp.New(`^[ \t]*,[ \t]*`)
	sedNot     = lazyregexp.New(`^[ \t!]*`)
	sedFlags   = lazyregexp.New(`^[IM]*`)
	sedPlain   = lazyregexp.New(`^(?:[=dDgGhHnNpPxzF]|l[ \t]*[01]?|[LqQ][ \t]*[0-9]*|[:btT][ \t]*\w*)`)
	sedEnd     = lazyregexp.New(`^[ \t]*(?:$|[\n;}#])`)
	sedText    = lazyregexp.New(`^[aic](?:(?:[^\\\n]|\\[^\n])*\\\n)*.*\n?`)
	sedLine    = lazyregexp.New(`^.*\n?`)
	sedOptions = lazyregexp.New(`^[gpiImMe0-9]*`)
	// What finds single characters, or a few that may be any, and puts them back: as in the tables.
	sedPieces = lazyregexp.New(`^\^?(?:(?:\\?\()*(?:\.|\\[wWS]|\[\^[^]]+\]|\[[^]]*(?:a-z|A-Z|\[:(?:alnum|alpha|graph|print|lower|upper):\])[^]]*\])(?:\\?\?|\\?\{(?:\d,)?\d\\?\})?(?:\\?\))*)+.[^&\\]*(?:&|\\[1-9])`)
)

func (s *sedScript) run() bool {
	for {
		s.eat(sedBlank)
		if s.text == "" {
			return s.depth == 0
		}
		if !s.addresses() || !s.command() {
			return false
		}
	}
}

func (s *sedScript) addresses() bool {
	found, ok := s.address(sedFirst)
	if found && ok && s.eat(sedComma) != "" {
		found, ok = s.address(sedSecond)
		ok = ok && found
	}
	s.eat(sedNot)
	return ok && s.text != ""
}

func (s *sedScript) address(number *lazyregexp.Regexp) (found, ok bool) {
	if s.eat(number) != "" {
		return true, true
	}
	if s.text == "" || s.text[0] != '/' && s.text[0] != '\\' {
		return false, true
	}
	if s.text[0] == '\\' {
		s.text = s.text[1:]
	}
	if !s.delimited(s.delimiter(), true, false) {
		return true, false
	}
	s.eat(sedFlags)
	return true, true
}

// delimiter takes the character that ends a pattern. Where that is none that every sed knows, it is a newline, which ends none.
func (s *sedScript) delimiter() byte {
	if s.text == "" || s.text[0] == '\\' || s.text[0] >= 128 {
		return '\n'
	}
	b := s.text[0]
	s.text = s.text[1:]
	return b
}

// line takes the rest of the line: file names and commands know no other end.
func (s *sedScript) line() string { return strings.Trim(s.eat(sedLine), " \t\n") }

// end wants nothing more in this command.
func (s *sedScript) end() bool { return sedEnd.MatchString(s.text) }

func (s *sedScript) command() bool {
	if m := s.eat(sedPlain); m != "" {
		s.flow(m)
		return s.end()
	}
	if s.eat(sedText) != "" {
		return true
	}
	b := s.text[0]
	s.text = s.text[1:]
	switch b {
	case '{':
		s.depth++
	case '}':
		s.depth--
		return s.depth >= 0 && s.end()
	case '#':
		s.line()
	case 's':
		s.grows = true
		return s.substitute()
	case 'y':
		s.c.say(recode, "has a script that maps letters")
		delim := s.delimiter()
		from := s.delimited(delim, false, false)
		return from && s.delimited(delim, false, false) && s.end()
	case 'r', 'R':
		s.c.path(word(s.line()), false)
	case 'w', 'W':
		s.writes()
	case 'e':
		if text := s.line(); text != "" {
			s.c.script("sh", word(text))
		}
		s.c.say(unknown, "has a script that runs a command")
	default:
		return false
	}
	return true
}

// flow notes what keeps a script going.
func (s *sedScript) flow(command string) {
	switch named := strings.TrimLeft(command[1:], " \t") != ""; command[0] {
	case 'D':
		s.restarts = true
	case 'G', 'g', 'x':
		s.grows = true
	case 'b', 't', 'T':
		s.jumps = s.jumps || named
	case ':':
		next := strings.TrimLeft(s.text, " \t\n;")
		s.loops = s.loops || !strings.HasPrefix(next, "N") && !strings.HasPrefix(next, "n")
	}
}

func (s *sedScript) writes() {
	s.c.path(word(s.line()), true)
	s.c.say(write, "has a script that writes a file")
}

func (s *sedScript) substitute() bool {
	delim, both := s.delimiter(), s.text
	if !s.delimited(delim, true, false) || !s.delimited(delim, false, false) {
		return false
	}
	options := s.eat(sedOptions)
	if strings.Contains(options, "e") {
		s.c.say(unknown, "has a script that runs a command")
	}
	if strings.Contains(options, "g") && sedPieces.MatchString(both[:len(both)-len(s.text)-len(options)]) {
		s.c.say(recode, "has a script that takes what it reads apart")
	}
	if strings.HasPrefix(s.text, "w") {
		s.text = s.text[1:]
		s.writes()
		return true
	}
	return s.end()
}

package programs

import "strings"

// awkCheck reads the program text of an awk call.
func awkCheck(c *call) {
	if !c.has("-f") && len(c.ops) > 0 {
		awkText(c, c.ops[0])
	}
}

func awkText(c *call, a Arg) {
	if !a.certain() {
		c.say(unknown, "has a program that isn't literal")
		return
	}
	if strings.Contains(a.Text, "/inet/") || strings.Contains(a.Text, "/inet4/") || strings.Contains(a.Text, "/inet6/") {
		c.say(forbid, "has a program that opens network connections by a way made for backdoors")
	}
	s := awkScan{c: c, src: a.Text, before: awkOperator}
	if !s.run() {
		c.say(unknown, "has a program that this reader does not understand")
	}
}

// What stood before a slash tells a division from a pattern. Where awks differ, nothing is understood.
type awkToken uint8

const (
	awkOperator awkToken = iota // a pattern may follow
	awkOperand                  // a slash divides
	awkUnsure                   // a slash may be either
)

type awkScan struct {
	c      *call
	src    string
	at     int
	before awkToken
	word   string // the word just read, "" after anything else
	opens  []bool // for each open parenthesis: does it belong to if, while or for?
	print  int    // the depth of parentheses at which print stands, plus one; 0 outside print
	own    string // names of the program's own functions, each between spaces
}

func (s *awkScan) run() bool {
	s.functions()
	for s.at < len(s.src) {
		b := s.src[s.at]
		switch {
		case b == ' ' || b == '\t' || b == '\r':
			s.at++
			continue
		case b == '\\':
			if !strings.HasPrefix(s.src[s.at:], "\\\n") {
				return false
			}
			s.at += 2
			continue
		case b == '#':
			if end := strings.IndexByte(s.src[s.at:], '\n'); end >= 0 {
				s.at += end
			} else {
				s.at = len(s.src)
			}
			continue
		case b == '"':
			if _, ok := s.str(); !ok {
				return false
			}
			s.before, s.word = awkOperand, ""
			continue
		case b == '/' && s.before == awkOperator:
			if !s.pattern() {
				return false
			}
			s.before, s.word = awkOperand, ""
			continue
		case b == '/' && s.before == awkUnsure:
			return false
		case '0' <= b && b <= '9' || b == '.':
			if !s.number() {
				return false
			}
			s.before, s.word = awkOperand, ""
			continue
		case strings.IndexByte(identifier, b) >= 0:
			start := s.at
			for s.at < len(s.src) && strings.IndexByte(identifier, s.src[s.at]) >= 0 {
				s.at++
			}
			if !s.name(s.src[start:s.at]) {
				return false
			}
			continue
		}
		if !s.punctuation(b) {
			return false
		}
		s.word = ""
	}
	return len(s.opens) == 0
}

// number reads a decimal number. A name right after it would be a call to some and part of the number to others.
func (s *awkScan) number() bool {
	rest := strings.TrimLeft(s.src[s.at:], digits+".")
	if rest != "" && (rest[0] == 'e' || rest[0] == 'E') {
		exponent := strings.TrimLeft(rest[1:], "+-")
		if after := strings.TrimLeft(exponent, digits); after != exponent {
			rest = after
		}
	}
	s.at = len(s.src) - len(rest)
	return rest == "" || strings.IndexByte(identifier, rest[0]) < 0
}

// functions collects the functions that the program defines itself.
func (s *awkScan) functions() {
	s.own = " "
	for rest := s.src; ; {
		i := strings.Index(rest, "func")
		if i < 0 {
			return
		}
		rest = strings.TrimPrefix(rest[i+4:], "tion")
		name := strings.TrimLeft(rest, " \t")
		if len(name) == len(rest) {
			continue
		}
		s.own += name[:len(name)-len(strings.TrimLeft(name, identifier))] + " "
	}
}

func (s *awkScan) str() (string, bool) {
	for i := s.at + 1; i < len(s.src); i++ {
		switch s.src[i] {
		case '\\':
			if i++; i < len(s.src) && s.src[i] == '\n' {
				return "", false
			}
		case '\n':
			return "", false
		case '"':
			text := s.src[s.at+1 : i]
			s.at = i + 1
			return text, true
		}
	}
	return "", false
}

func (s *awkScan) pattern() bool {
	open, start := false, 0
	for i := s.at + 1; i < len(s.src); i++ {
		switch b := s.src[i]; {
		case b == '\n':
			return false
		case b == '\\':
			if open && i+1 < len(s.src) && s.src[i+1] == ']' {
				return false
			}
			i++
		case b == '[' && !open:
			open, start = true, i+1
			if start < len(s.src) && s.src[start] == '^' {
				start++
			}
		case b == '[' && open && i+1 < len(s.src) && strings.IndexByte(":.=", s.src[i+1]) >= 0:
			end := strings.Index(s.src[i+2:], s.src[i+1:i+2]+"]")
			if end < 0 || strings.ContainsAny(s.src[i+2:i+2+end], "/\n") {
				return false
			}
			i += 2 + end + 1
		case b == ']' && open && i > start:
			open = false
		case b == '/':
			if open {
				return false
			}
			s.at = i + 1
			return true
		}
	}
	return false
}

// awkCalls are the functions that change nothing outside the program.
const awkCalls = " length substr index split sub gsub gensub match sprintf sin cos atan2 exp log sqrt int rand srand tolower" +
	" toupper strftime mktime systime close fflush asort asorti patsplit strtonum and or xor lshift rshift compl isarray" +
	" typeof if while for print printf return exit in delete getline func function else do "

// stepping says that the head of a loop compares, and counts up or down.
func stepping(head string) bool {
	parts := strings.Split(head, ";")
	return len(parts) == 3 && strings.ContainsAny(parts[1], "<>") && (strings.Contains(parts[2], "++") || strings.Contains(parts[2], "--"))
}

// callsOwn says that a function may call one of the program's own, itself for one. Where its body ends within quotes, that
// was not its end.
func (s *awkScan) callsOwn(text string) bool {
	_, body, _ := strings.Cut(text, "{")
	for i, depth := 0, 1; i < len(body); i++ {
		switch body[i] {
		case '{':
			depth++
		case '}':
			depth--
		}
		if depth == 0 {
			body = body[:i]
		}
	}
	for name := range strings.FieldsSeq(s.own) {
		if strings.Contains(body, name) {
			return true
		}
	}
	return strings.Count(body, `"`)%2 != 0 || strings.Count(body, "/")%2 != 0
}

func (s *awkScan) name(w string) bool {
	s.word = w
	s.before = awkOperand
	next := strings.TrimLeft(s.src[s.at:], " \t")
	switch w {
	case "switch", "case", "default":
		return false // keywords to some, variables to others
	case "while":
		s.c.say(endless, "has a program that may never end")
	case "function", "func":
		if s.callsOwn(next) {
			s.c.say(endless, "has a program that may never end")
		}
	case "for":
		if head, _, _ := strings.Cut(next, ")"); strings.Contains(head, ";") && !stepping(head) {
			s.c.say(endless, "has a program that may never end")
		}
	case "system":
		if arg, ok := strings.CutPrefix(next, `("`); ok {
			if text, _, ok := strings.Cut(arg, `"`); ok && !strings.Contains(text, `\`) {
				s.c.script("sh", word(text))
			}
		}
		s.c.say(unknown, "has a program that runs a command")
		return true
	case "ENVIRON":
		s.c.say(secret, "has a program that shows the environment, which may hold secrets")
	case "ARGV", "ARGC", "SYMTAB", "FUNCTAB", "PROCINFO":
		s.c.say(unknown, "has a program that changes what it reads or calls")
	case "print", "printf":
		s.print = len(s.opens) + 1
		s.before = awkOperator
	case "return", "else", "do", "exit":
		s.before = awkOperator
		if w == "do" {
			s.c.say(endless, "has a program that may never end")
		}
	case "in", "delete", "length", "next", "nextfile", "break", "continue", "BEGIN", "END":
		s.before = awkUnsure
	case "getline":
		s.before = awkUnsure
		s.c.say(unknown, "has a program that may read from where it says itself")
	}
	if strings.HasPrefix(next, "(") && !strings.Contains(awkCalls, " "+w+" ") && !strings.Contains(s.own, " "+w+" ") {
		// A variable followed by a parenthesis concatenates, but only with a space between.
		if next == s.src[s.at:] {
			return false
		}
	}
	return true
}

func (s *awkScan) punctuation(b byte) bool {
	two := s.src[s.at:min(s.at+2, len(s.src))]
	switch b {
	case '(':
		s.opens = append(s.opens, s.word == "if" || s.word == "while" || s.word == "for")
		s.before = awkOperator
	case ')':
		if len(s.opens) == 0 {
			return false
		}
		s.before = awkOperand
		if s.opens[len(s.opens)-1] {
			s.before = awkOperator
		}
		s.opens = s.opens[:len(s.opens)-1]
	case ']':
		s.before = awkOperand
	case ';', '\n', '{', '}':
		if b != '\n' || len(s.opens) == 0 {
			s.print = 0
		}
		s.before = awkOperator
	case '|':
		if two == "||" {
			s.at++
		} else {
			s.c.say(unknown, "has a program that runs a command")
		}
		s.before = awkOperator
	case '>':
		if s.print != 0 && len(s.opens) < s.print {
			return s.redirect(two)
		}
		s.before = awkOperator
	case '+', '-':
		if two == "++" || two == "--" {
			s.at++
			s.before = awkUnsure
			break
		}
		s.before = awkOperator
	case '$':
		s.before = awkUnsure
	case '/', '*', '%', '<', '^', '!', '=', '~', '?', ':', ',', '[', '&':
		s.before = awkOperator
	default: // "@" loads, includes and calls by name; the rest is no awk
		return false
	}
	s.at++
	return true
}

// redirect reads what print writes to: the two standard streams are no files.
func (s *awkScan) redirect(two string) bool {
	s.at++
	if two == ">>" {
		s.at++
	}
	s.before = awkOperator
	rest := strings.TrimLeft(s.src[s.at:], " \t")
	for _, std := range [...]string{`"/dev/stderr"`, `"/dev/stdout"`} {
		if after, ok := strings.CutPrefix(rest, std); ok {
			after = strings.TrimLeft(after, " \t")
			if after == "" || strings.IndexByte(";}\n", after[0]) >= 0 {
				return true
			}
		}
	}
	if text, ok := strings.CutPrefix(rest, `"`); ok {
		if name, _, ok := strings.Cut(text, `"`); ok {
			s.c.path(word(name), true)
		}
	}
	s.c.say(write, "has a program that writes a file")
	return true
}

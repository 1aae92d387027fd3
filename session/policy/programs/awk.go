package programs

import (
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// awkCheck reads the program text and the operands of an awk call.
func awkCheck(c *call) {
	operands := c.ops
	if !c.has("-f") && len(operands) > 0 {
		awkText(c, operands[0])
		operands = operands[1:]
	}
	for _, a := range operands {
		if awkOpens.MatchString(a.Text) {
			c.say(forbid, awkConnects)
		}
	}
}

// What is named so is no file to gawk, but a connection. Patterns, as in /inet/, are not meant.
var (
	awkOpens   = lazyregexp.New(`^/inet[46]?/(?:tcp|udp)/`)
	awkNetwork = lazyregexp.New(`"/inet[46]?["/]`)
)

const awkConnects = "opens network connections by a way made for backdoors"

func awkText(c *call, a Arg) {
	if !a.certain() {
		c.say(unknown, "has a program that isn't literal")
		return
	}
	if awkNetwork.MatchString(a.Text) {
		c.say(forbid, "has a program that "+awkConnects)
	}
	s := awkScan{source: source{a.Text}, c: c, before: awkOperator}
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
	source
	c      *call
	before awkToken
	word   string // the word just read, "" after anything else
	opens  []bool // for each open parenthesis: does it belong to if, while or for?
	print  int    // the depth of parentheses at which print stands, plus one; 0 outside print
	own    string // names of the program's own functions, each between spaces
}

const awkStage = `(?:sort|uniq|head|tail|wc|column|cut|cat)(?: [\w.,%:+=/' -]*)?(?:1?>&2)?[ ]*`

var (
	awkBlank  = lazyregexp.New(`^(?:[ \t\r]|\\\n|#.*)+`)
	awkWide   = lazyregexp.New(`%[-+ #0'_^]*(?:\d{5}|\*|\d*\.(?:\d{5}|\*))`)
	awkString = lazyregexp.New(`^"(?:[^"\\\n]|\\.)*"`)
	awkNumber = lazyregexp.New(`^[0-9.]+(?:[eE][+-]*[0-9]+)?`)
	awkName   = lazyregexp.New(`^\w+`)

	// All that a pipe leads to: programs that write lines as they are, or count them. What spells them anew would get past redaction.
	awkCommand = lazyregexp.New(`^[ \t]*"((?:LC_ALL=C )?` + awkStage + `(?:\|[ ]*` + awkStage + `)*)"[ \t]*(?:[;}\n]|$)`)
)

func (s *awkScan) run() bool {
	s.functions()
	for s.eat(awkBlank); s.text != ""; s.eat(awkBlank) {
		switch b := s.text[0]; {
		case s.eat(awkNumber) != "":
			if awkName.MatchString(s.text) {
				return false // a call to some, and part of the number to others
			}
		case b == '"':
			text := s.eat(awkString)
			if text == "" {
				return false
			}
			if awkWide.MatchString(text) {
				s.c.say(endless, "has a format that may fill pages")
			}
		case b == '/' && s.before == awkOperator:
			s.text = s.text[1:]
			if !s.delimited('/', true, true) {
				return false
			}
		case b == '/' && s.before == awkUnsure:
			return false
		case awkName.MatchString(s.text):
			if !s.name(s.eat(awkName)) {
				return false
			}
			continue
		default:
			if !s.punctuation(b) {
				return false
			}
			s.word = ""
			continue
		}
		s.before, s.word = awkOperand, ""
	}
	return len(s.opens) == 0
}

// functions collects the functions that the program defines itself.
func (s *awkScan) functions() {
	s.own = " "
	for rest := s.text; ; {
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

// awkCalls are the functions that change nothing outside the program.
const awkCalls = " length substr index split sub gsub gensub match sprintf sin cos atan2 exp log sqrt int rand srand tolower" +
	" toupper strftime mktime systime close fflush asort asorti patsplit strtonum and or xor lshift rshift compl isarray" +
	" typeof if while for print printf return exit in delete getline func function else do "

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
	next := strings.TrimLeft(s.text, " \t")
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
		if head, _, _ := strings.Cut(next, ")"); strings.Contains(head, ";") && !s.counts(next) {
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
		if next == s.text {
			return false
		}
	}
	return true
}

func (s *awkScan) punctuation(b byte) bool {
	two := s.text[:min(2, len(s.text))]
	s.text = s.text[1:]
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
			s.text = s.text[1:]
		} else if m := awkCommand.FindStringSubmatch(s.text); m != nil && s.printing() {
			s.c.script("sh", word(m[1]))
		} else {
			s.c.say(unknown, "has a program that runs a command")
		}
		s.before = awkOperator
	case '>':
		if s.printing() {
			return s.redirect(two)
		}
		s.before = awkOperator
	case '+', '-':
		if two == "++" || two == "--" {
			s.text = s.text[1:]
			s.before = awkUnsure
			break
		}
		s.before = awkOperator
	case '$':
		s.before = awkUnsure
	case '/', '*', '%', '<', '^', '!', '=', '~', '?', ':', ',', '[', '&':
		s.before = awkOperator
	default: // "@" loads, includes and calls by name; the rest is not an awk
		return false
	}
	return true
}

// printing says that what follows print ends here.
func (s *awkScan) printing() bool { return s.print != 0 && len(s.opens) < s.print }

// redirect reads what print writes to: the two standard streams are no files.
func (s *awkScan) redirect(two string) bool {
	if two == ">>" {
		s.text = s.text[1:]
	}
	s.before = awkOperator
	rest := strings.TrimLeft(s.text, " \t")
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

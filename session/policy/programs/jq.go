package programs

import "strings"

// jq reads the filter. jq can neither write nor run anything; but it can show the environment and load other code.
func jq(c *call) {
	if len(c.ops) > 0 {
		jqText(c, c.ops[0])
	}
}

func jqText(c *call, a Arg) {
	if !a.certain() {
		c.say(unknown, "has a filter that isn't literal")
		return
	}
	s := jqScan{c: c, src: a.Text}
	if !s.code(0) {
		c.say(unknown, "has a filter that this reader does not understand")
	}
}

type jqScan struct {
	c    *call
	src  string
	at   int
	open []byte // the brackets that are
}

// code reads up to the end, or inside an interpolation to its closing parenthesis.
func (s *jqScan) code(depth int) bool {
	if depth > 32 {
		return false
	}
	outer := len(s.open)
	for s.at < len(s.src) {
		b := s.src[s.at]
		switch {
		case b == '"':
			if !s.str(depth) {
				return false
			}
			continue
		case b == '#':
			// A comment ends at the newline; some versions let a backslash continue it.
			line, _, more := strings.Cut(s.src[s.at:], "\n")
			if more && strings.HasSuffix(strings.TrimRight(line, "\r"), `\`) {
				return false
			}
			s.at += len(line)
			continue
		case b == '(', b == '[', b == '{':
			s.open = append(s.open, b)
		case b == ')' && len(s.open) == outer:
			s.at++
			return depth > 0
		case b == ')', b == ']', b == '}':
			s.open = s.open[:max(outer, len(s.open)-1)]
		case strings.IndexByte(identifier, b) >= 0 && (b < '0' || b > '9'):
			start := s.at
			for s.at < len(s.src) && strings.IndexByte(identifier, s.src[s.at]) >= 0 {
				s.at++
			}
			s.name(start, s.src[start:s.at])
			continue
		}
		s.at++
	}
	return depth == 0
}

func (s *jqScan) str(depth int) bool {
	for s.at++; s.at < len(s.src); {
		switch s.src[s.at] {
		case '"':
			s.at++
			return true
		case '\\':
			if s.at+1 < len(s.src) && s.src[s.at+1] == '(' {
				s.at += 2
				if !s.code(depth + 1) {
					return false
				}
				continue
			}
			s.at += 2
		default:
			s.at++
		}
	}
	return false
}

func (s *jqScan) name(start int, w string) {
	before := byte(0)
	if start > 0 {
		before = s.src[start-1]
	}
	field := before == '.' && (start < 2 || s.src[start-2] != '.')
	// Within an object a name before a colon is a key, but within brackets it is a bound.
	object := len(s.open) > 0 && s.open[len(s.open)-1] == '{'
	key := object && strings.HasPrefix(strings.TrimLeft(s.src[s.at:], " \t\n"), ":") && before != '$'
	if field || key {
		return
	}
	switch w {
	case "env", "ENV":
		s.c.say(secret, "has a filter that shows the environment, which may hold secrets")
	case "repeat", "while", "until", "def", "infinite":
		s.c.say(endless, "has a filter that may never end")
	case "recurse", "range":
		if arg, _, ok := strings.Cut(s.src[s.at:], ")"); ok && strings.HasPrefix(strings.TrimLeft(arg, " "), "(") && (w == "recurse" || !fewTimes(arg)) {
			s.c.say(endless, "has a filter that may never end")
		}
	case "import", "include", "modulemeta", "load", "getpath_file", "input_line_number_file", "exec", "system", "http":
		s.c.say(unknown, "has a filter that loads other code")
	}
}

// fewTimes reads what range counts to: short numbers, or how long something is.
func fewTimes(arg string) bool {
	for part := range strings.FieldsFuncSeq(strings.ReplaceAll(arg, "length", ""), func(r rune) bool { return strings.ContainsRune("(; |", r) }) {
		if len(part) > 6 || strings.Trim(part, digits+".") != "" {
			return false
		}
	}
	return true
}

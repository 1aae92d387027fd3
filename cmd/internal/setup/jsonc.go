package setup

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Configuration files are edited as text, so that all else in them stays as it is: order, comments, spacing, and numbers that
// a parser would change. What is understood is JSON with comments and commas before closing brackets, as editors write it.

// object is where the parts of one object stand in a text.
type object struct {
	open, close int // of the brackets
	members     []member
}

type member struct {
	key        string
	at         int // of the key
	value, end int // of the value
	comma      int // behind it; -1 without one
}

var errJSON = errors.New("it is not JSON")

// scanner reads a text from pos on.
type scanner struct {
	text string
	pos  int
}

// space passes over blanks and comments.
func (s *scanner) space() {
	for s.pos < len(s.text) {
		rest := s.text[s.pos:]
		switch {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			s.pos++
		case strings.HasPrefix(rest, "//"):
			if i := strings.IndexByte(rest, '\n'); i >= 0 {
				s.pos += i
			} else {
				s.pos = len(s.text)
			}
		case strings.HasPrefix(rest, "/*"):
			i := strings.Index(rest[2:], "*/")
			if i < 0 {
				s.pos = len(s.text)
				return
			}
			s.pos += i + 4
		default:
			return
		}
	}
}

func (s *scanner) next() byte {
	if s.pos < len(s.text) {
		return s.text[s.pos]
	}
	return 0
}

// str reads a string.
func (s *scanner) str() (string, error) {
	from := s.pos
	for s.pos++; s.pos < len(s.text); s.pos++ {
		switch s.text[s.pos] {
		case '\\':
			s.pos++
		case '"':
			s.pos++
			var v string
			if json.Unmarshal([]byte(s.text[from:s.pos]), &v) != nil {
				return "", errJSON
			}
			return v, nil
		}
	}
	return "", errJSON
}

// value passes over any value.
func (s *scanner) value(depth int) error {
	switch c := s.next(); {
	case depth > 100:
		return errJSON
	case c == '"':
		_, err := s.str()
		return err
	case c == '{':
		_, err := s.object(depth)
		return err
	case c == '[':
		for s.pos++; ; {
			s.space()
			if s.next() == ']' {
				s.pos++
				return nil
			}
			if err := s.value(depth + 1); err != nil {
				return err
			}
			s.space()
			switch s.next() {
			case ',':
				s.pos++
			case ']':
			default:
				return errJSON
			}
		}
	}
	from := s.pos
	for s.pos < len(s.text) && strings.IndexByte(" \t\r\n,:]}/\"[{", s.text[s.pos]) < 0 {
		s.pos++
	}
	if !json.Valid([]byte(s.text[from:s.pos])) {
		return errJSON
	}
	return nil
}

func (s *scanner) object(depth int) (object, error) {
	o := object{open: s.pos}
	for s.pos++; ; {
		s.space()
		if s.next() == '}' {
			o.close = s.pos
			s.pos++
			return o, nil
		}
		if s.next() != '"' {
			return o, errJSON
		}
		m := member{at: s.pos, comma: -1}
		var err error
		if m.key, err = s.str(); err != nil {
			return o, err
		}
		if s.space(); s.next() != ':' {
			return o, errJSON
		}
		s.pos++
		s.space()
		m.value = s.pos
		if err := s.value(depth + 1); err != nil {
			return o, err
		}
		m.end = s.pos
		s.space()
		switch s.next() {
		case ',':
			m.comma = s.pos
			s.pos++
		case '}':
		default:
			return o, errJSON
		}
		o.members = append(o.members, m)
	}
}

// root finds the outermost object, and whether there is nothing else.
func root(text string) (object, error) {
	s := &scanner{text: text, pos: len(text) - len(strings.TrimPrefix(text, "\ufeff"))}
	s.space()
	if s.next() != '{' {
		return object{}, errJSON
	}
	o, err := s.object(0)
	if err != nil {
		return o, err
	}
	if s.space(); s.pos < len(text) {
		return o, errJSON
	}
	return o, nil
}

// find returns the objects along a path as far as they are there, and the member at its end; nil if it is not there.
func find(text string, path []string) (chain []object, m *member, err error) {
	o, err := root(text)
	if err != nil {
		return nil, nil, err
	}
	for i, key := range path {
		chain = append(chain, o)
		m = nil
		for j := range o.members {
			if o.members[j].key != key {
				continue
			}
			if m != nil {
				return nil, nil, fmt.Errorf("it has %q twice", key)
			}
			m = &o.members[j]
		}
		if m == nil || i == len(path)-1 {
			return chain, m, nil
		}
		s := &scanner{text: text, pos: m.value}
		if s.next() != '{' {
			return nil, nil, fmt.Errorf("its %q is not an object", key)
		}
		if o, err = s.object(0); err != nil {
			return nil, nil, err
		}
	}
	return chain, m, nil
}

// set gives what stands at a path a value, making the objects on the way.
func set(text string, path []string, value any) (string, error) {
	chain, m, err := find(text, path)
	if err != nil {
		return "", err
	}
	unit, depth := unitOf(text), len(chain)
	if m != nil {
		var old any
		if json.Unmarshal([]byte(text[m.value:m.end]), &old) == nil && same(old, value) {
			return text, nil
		}
		return text[:m.value] + encode(value, lineIndent(text, m.at), unit) + text[m.end:], nil
	}
	for i := len(path) - 1; i >= depth; i-- {
		value = map[string]any{path[i]: value}
	}
	return insert(text, chain[depth-1], path[depth-1], value, unit), nil
}

// insert adds a member to an object, as its last one.
func insert(text string, o object, key string, value any, unit string) string {
	indent := lineIndent(text, o.open) + unit
	at := len(strings.TrimRight(text[:o.close], " \t\r\n")) // behind what is there, comments too
	var b strings.Builder
	if n := len(o.members); n > 0 {
		last := o.members[n-1]
		indent = lineIndent(text, last.at)
		if !startsLine(text, last.at) {
			indent = lineIndent(text, o.open) + unit
		}
		b.WriteString(text[:last.end])
		if last.comma < 0 {
			b.WriteByte(',')
		}
		b.WriteString(text[last.end:at])
	} else {
		b.WriteString(text[:at])
	}
	b.WriteString("\n" + indent + encode(key, "", "") + ": " + encode(value, indent, unit))
	if n := len(o.members); n > 0 && o.members[n-1].comma >= 0 {
		b.WriteByte(',') // as the others have it
	}
	if rest := text[at:o.close]; strings.Contains(rest, "\n") {
		b.WriteString(rest)
	} else {
		b.WriteString("\n" + lineIndent(text, o.open))
	}
	b.WriteString(text[o.close:])
	return b.String()
}

// unset takes away what stands at a path. A comment of its own line stays.
func unset(text string, path []string) (string, error) {
	chain, m, err := find(text, path)
	if err != nil || m == nil || len(chain) < len(path) {
		return text, err
	}
	from, to := m.at, m.end
	if m.comma >= 0 {
		to = m.comma + 1
	}
	if line := strings.LastIndexByte(text[:from], '\n') + 1; startsLine(text, from) {
		if i := strings.IndexByte(text[to:], '\n'); i >= 0 && strings.TrimSpace(text[to:to+i]) == "" {
			from, to = line, to+i+1
		}
	}
	out := text[:from] + text[to:]
	members := chain[len(chain)-1].members
	if n := len(members); m == &members[n-1] && n > 1 && m.comma < 0 { // the one before is the last now
		c := members[n-2].comma
		out = out[:c] + out[c+1:]
	}
	return out, nil
}

func encode(v any, prefix, indent string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent(prefix, indent)
	_ = e.Encode(v) // strings, lists and maps of them
	return strings.TrimSuffix(b.String(), "\n")
}

// same compares values as JSON has them.
func same(a, b any) bool { return encode(a, "", "") == encode(normal(b), "", "") }

func normal(v any) (out any) {
	_ = json.Unmarshal([]byte(encode(v, "", "")), &out)
	return out
}

// lineIndent is the white space that the line of a place begins with.
func lineIndent(text string, at int) string {
	line := text[strings.LastIndexByte(text[:at], '\n')+1 : at]
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

func startsLine(text string, at int) bool {
	return strings.TrimSpace(text[strings.LastIndexByte(text[:at], '\n')+1:at]) == ""
}

// unitOf is one step of indentation, as the first line has it that is indented.
func unitOf(text string) string {
	for line := range strings.Lines(text) {
		if in := line[:len(line)-len(strings.TrimLeft(line, " \t"))]; in != "" && strings.TrimSpace(line) != "" {
			return in
		}
	}
	return "  "
}

// plainJSON parses the text, for comparing.
func plainJSON(text string) (map[string]any, error) {
	s := &scanner{text: text}
	var b strings.Builder
	for s.pos < len(text) {
		before := s.pos
		if s.space(); s.pos > before {
			b.WriteByte(' ')
			continue
		}
		switch c := s.next(); c {
		case '"':
			from := s.pos
			if _, err := s.str(); err != nil {
				return nil, err
			}
			b.WriteString(text[from:s.pos])
		case ',':
			s.pos++
			if s.space(); s.next() != '}' && s.next() != ']' {
				b.WriteByte(',')
			}
		default:
			b.WriteByte(c)
			s.pos++
		}
	}
	d := json.NewDecoder(strings.NewReader(strings.TrimPrefix(b.String(), "\ufeff")))
	d.UseNumber()
	var v map[string]any
	if err := d.Decode(&v); err != nil {
		return nil, errJSON
	}
	return v, nil
}

package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
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
	object     *object
}

var errJSON = errors.New("it is not JSON")

const byteOrderMark = "\ufeff"

// root finds the outermost object, and whether there is nothing else.
func root(text string) (object, error) {
	body := strings.TrimPrefix(text, byteOrderMark)
	v, err := hujson.Parse([]byte(body + "\n")) // a comment in the last line needs its end
	if err != nil {
		return object{}, errJSON
	}
	o := objectOf(v, len(text)-len(body))
	if o == nil {
		return object{}, errJSON
	}
	return *o, nil
}

// objectOf is nil for other values. shift is where the parsed text begins.
func objectOf(v hujson.Value, shift int) *object {
	parsed, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	o := &object{open: shift + v.StartOffset, close: shift + v.EndOffset - 1}
	for i, m := range parsed.Members {
		key, _ := m.Name.Value.(hujson.Literal)
		one := member{
			key: key.String(), at: shift + m.Name.StartOffset, value: shift + m.Value.StartOffset, end: shift + m.Value.EndOffset,
			comma: -1, object: objectOf(m.Value, shift),
		}
		if i < len(parsed.Members)-1 || m.Value.AfterExtra != nil { // the last one has it where a comma follows
			one.comma = one.end + len(m.Value.AfterExtra)
		}
		o.members = append(o.members, one)
	}
	return o
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
		if m.object == nil {
			return nil, nil, fmt.Errorf("its %q is not an object", key)
		}
		o = *m.object
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
	plain, err := hujson.Standardize([]byte(strings.TrimPrefix(text, byteOrderMark) + "\n"))
	if err != nil {
		return nil, errJSON
	}
	d := json.NewDecoder(bytes.NewReader(plain))
	d.UseNumber()
	var v map[string]any
	if err := d.Decode(&v); err != nil {
		return nil, errJSON
	}
	return v, nil
}

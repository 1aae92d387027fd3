package foreign

import (
	"bytes"
	"math"
	"net/netip"
	"strconv"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
)

var (
	iniSection = lazyregexp.New(`^\[([^:\]\s]+)(?::(\w+))?\]\s*(?:#.*)?$`)
	iniGroup   = lazyregexp.New(`^([^:\]\s]+)\s*(?:#.*)?$`)
)

// ini reads an inventory in Ansible's INI form into m.
func (m *model) ini(file string, data []byte) error {
	r := &iniReader{model: m, file: file, section: m.groups["ungrouped"], state: "hosts", pending: map[string]pending{}}
	for text := range bytes.Lines(data) {
		r.line++
		if err := r.read(strings.TrimSpace(string(text))); err != nil {
			return err
		}
	}
	for _, name := range r.waiting {
		if p, ok := r.pending[name]; ok {
			if p.parent == "" {
				return wrong(p.pos, "[%s:vars]: there is no group %s", clip(name), clip(name))
			}
			return wrong(p.pos, "group %q has the child %q, which is not a group", clip(p.parent), clip(name))
		}
	}
	return nil
}

// pending is a group that was named before it was declared.
type pending struct {
	parent string // "" means that variables were set
	pos    hosts.Pos
}

type iniReader struct {
	*model
	file    string
	line    int
	section *ansibleGroup
	state   string
	pending map[string]pending
	waiting []string // their names, in order
}

func (r *iniReader) pos() hosts.Pos { return hosts.Pos{File: r.file, Line: r.line} }

func (r *iniReader) read(line string) error {
	if line == "" || line[0] == '#' || line[0] == ';' {
		return nil
	}
	if found := iniSection.FindStringSubmatch(line); found != nil {
		return r.header(found[1], found[2])
	}
	if strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") {
		return wrong(r.pos(), "%q is not a section: write [GROUP], [GROUP:vars] or [GROUP:children]", clip(line))
	}
	switch r.state {
	case "vars":
		name, text, found := strings.Cut(line, "=")
		if !found {
			return wrong(r.pos(), "expected NAME=VALUE in [%s:vars]", clip(r.section.name))
		}
		r.setGroup(r.section, strings.TrimSpace(name), iniValue(strings.TrimSpace(text), r.pos()))
		return nil
	case "children":
		found := iniGroup.FindStringSubmatch(line)
		if found == nil {
			return wrong(r.pos(), "expected the name of a group in [%s:children]", clip(r.section.name))
		}
		name := found[1]
		if _, known := r.groups[name]; !known {
			r.await(name, pending{r.section.name, r.pos()})
		}
		return r.child(r.section, r.group(name, r.pos()), r.pos())
	}
	return r.hostLine(line)
}

func (r *iniReader) await(name string, p pending) {
	r.pending[name] = p
	r.waiting = append(r.waiting, name)
}

func (r *iniReader) header(name, state string) error {
	switch state {
	case "":
		state = "hosts"
	case "hosts", "vars", "children":
	default:
		return wrong(r.pos(), "[%s:%s] is not a section: write [%s], [%s:vars] or [%s:children]", clip(name), clip(state), clip(name), clip(name), clip(name))
	}
	_, known := r.groups[name]
	if !known && state == "vars" {
		r.await(name, pending{"", r.pos()})
	}
	r.section, r.state = r.group(name, r.pos()), state
	if state != "vars" {
		delete(r.pending, name)
	}
	return nil
}

func (r *iniReader) hostLine(line string) error {
	words, err := splitWords(line, true)
	if err != nil {
		return wrong(r.pos(), "a line of a host: %v", err)
	}
	if len(words) == 0 {
		return nil
	}
	if words[0] == "---" {
		return wrong(r.pos(), "--- begins a YAML file, and this is read as INI: name it with .yml")
	}
	names, port, err := r.pattern(words[0], r.pos())
	if err != nil {
		return err
	}
	set := variables{}
	for i, w := range words[1:] {
		name, text, found := strings.Cut(w, "=")
		if !found { // the word may be a password with a space in it: it is not quoted
			return wrong(r.pos(), "expected NAME=VALUE after the host's name, but word %d has no =%s", i+2, r.otherForm(words))
		}
		set[name] = iniValue(text, r.pos())
	}
	return r.fill(names, port, r.section, set, r.pos())
}

// otherForm says of which other program a line may be whose second word is no variable.
func (r *iniReader) otherForm(words []string) string {
	if strings.Contains(words[1], "=") {
		return ""
	}
	if _, err := netip.ParseAddr(words[0]); err == nil && hosts.CheckName(words[1]) == nil {
		return "; to read a file like /etc/hosts, write: fairlead hosts import --format hosts " + printable.Word(r.file)
	}
	if len(words) == 2 {
		return "; an account is written ansible_user=NAME"
	}
	return ""
}

// fill puts hosts into a group and sets variables of theirs. The port behind a name counts for Ansible where it meets the name
// for the first time, and never again.
func (m *model) fill(names []string, port string, g *ansibleGroup, set variables, pos hosts.Pos) error {
	if m.values += len(names) * (1 + len(set)); m.values > maxValues {
		return wrong(pos, "more than %d values", maxValues)
	}
	for _, name := range names {
		_, known := m.hosts[name]
		h, err := m.host(name, g, pos)
		if err != nil {
			return err
		}
		if port != "" && !known {
			h.vars["ansible_port"] = value{text: port, pos: pos}
		}
		for k, v := range set {
			m.setHost(h, k, v)
		}
	}
	return nil
}

// pythonLiteral is a number, a truth value or None as Python writes it: no other number than zero begins with a zero.
var pythonLiteral = lazyregexp.New(`^(True|False|None|[-+]?(0(_?0)*|[1-9](_?[0-9])*|0[xX](_?[0-9a-fA-F])+|0[oO](_?[0-7])+|0[bB](_?[01])+|` +
	`([0-9](_?[0-9])*)?\.[0-9](_?[0-9])*([eE][-+]?[0-9](_?[0-9])*)?|[0-9](_?[0-9])*(\.([eE][-+]?[0-9](_?[0-9])*)?|[eE][-+]?[0-9](_?[0-9])*)))$`)

// iniValue reads a value. Ansible reads literals of Python here; of those, quoted texts, numbers, None, lists and mappings
// matter. Everything else is the text itself.
func iniValue(text string, pos hosts.Pos) value {
	v := value{text: text, pos: pos}
	if text == "" {
		return v
	}
	if literal, ok := pythonText(text); ok {
		v.text = literal
		return v
	}
	bare, comment, found := strings.Cut(text, "#")
	if bare = strings.TrimSpace(bare); found && !strings.Contains(comment, "\n") && pythonLiteral.MatchString(bare) {
		v.text = bare // Python reads a comment, but only behind a literal of its own
	}
	v.text = pythonInt(v.text)
	if strings.ContainsAny(v.text, ".eE") && !strings.HasSuffix(v.text, "e") && pythonLiteral.MatchString(v.text) { // no True
		v.text = pythonFloat(v.text)
	}
	switch {
	case v.text == "None":
		v.kind = nullValue
	case strings.HasPrefix(text, "{{") || strings.HasPrefix(text, "{%"): // a template: Python knows no such literal
	case strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]"), strings.HasPrefix(text, "{") && strings.HasSuffix(text, "}"):
		v.kind = otherValue
	}
	return v
}

// pythonFloat returns a number with a point or an exponent as Python writes it: 1.1 for 1.10, and 1000.0 for 1e3. Very large and
// small ones stay as they are.
func pythonFloat(text string) string {
	f, err := strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	if size := math.Abs(f); err != nil || size >= 1e16 || size != 0 && size < 1e-4 {
		return text
	}
	out := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(out, ".") {
		out += ".0"
	}
	return out
}

// pythonInt returns an integer as Python writes it in decimal: 0x16 and 2_200. Python takes no other number that begins with a zero;
// it, and every other text, stays as it is.
func pythonInt(text string) string {
	if rest, ok := strings.CutPrefix(text, "+"); ok && rest != "" && strings.Trim(rest, "0123456789") == "" && pythonLiteral.MatchString(rest) {
		return rest
	}
	if strings.Trim(text, "0123456789") == "" || text[0] < '0' || text[0] > '9' || text[0] == '0' && strings.ContainsAny(text[1:2], "0123456789_") {
		return text
	}
	if n, err := strconv.ParseUint(text, 0, 63); err == nil {
		return strconv.FormatUint(n, 10)
	}
	return text
}

// pythonText reads a text in single or double quotes, which a comment may follow.
func pythonText(text string) (string, bool) {
	quote := text[0]
	if quote != '\'' && quote != '"' {
		return "", false
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; c {
		case quote:
			rest := strings.TrimSpace(text[i+1:])
			return b.String(), rest == "" || rest[0] == '#'
		case '\\':
			if i++; i == len(text) {
				return "", false
			}
			switch text[i] {
			case '\\', '\'', '"':
				b.WriteByte(text[i])
			case 'n':
				b.WriteByte('\n')
			case 't':
				b.WriteByte('\t')
			default:
				b.WriteByte('\\')
				b.WriteByte(text[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}

package hosts

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
)

// renderer writes an inventory as YAML.
type renderer struct {
	strings.Builder
	names map[string]bool   // of all hosts
	left  map[string]bool   // hosts that refuse logins: they are comments
	jumps map[string]string // what via says, to the host's name
	added []string          // jump hosts that became hosts, in their order
	extra []hosts.Host
}

// render writes inv as an inventory file. added are the names of jump hosts that became hosts, left is how many hosts are
// comments.
func render(inv *hosts.Inventory, from []string) (text []byte, added []string, left int) {
	r := &renderer{names: map[string]bool{}, left: map[string]bool{}, jumps: map[string]string{}}
	var all []hosts.Host
	for h := range inv.All() {
		all = append(all, h)
		r.names[h.Name] = true
		if h.NoLogin != "" {
			r.left[h.Name] = true
		}
	}
	for i := range all {
		all[i].Via = r.via(all[i])
	}
	var sources []string
	for _, f := range from {
		sources = append(sources, printable.Clip(printable.Line(f), 80))
	}
	fmt.Fprintf(r, "# Imported from %s.\nversion: 1\n", strings.Join(sources, ", "))
	r.groups(inv)
	r.hosts(append(all, r.extra...))
	return []byte(r.String()), r.added, len(r.left)
}

// via returns the names of jump hosts, which must be hosts of the inventory.
func (r *renderer) via(h hosts.Host) (out []string) {
	for _, v := range h.Via {
		if r.names[v] && !r.left[v] {
			out = append(out, v)
			continue
		}
		if _, known := r.jumps[v]; !known {
			r.jump(v)
		}
		out = append(out, r.jumps[v])
	}
	return out
}

// jump makes a host of a jump host, with a name that no other has.
func (r *renderer) jump(via string) {
	h, ok, err := hosts.ParseAdHoc(via)
	if !ok || err != nil {
		h = hosts.Host{Name: via}
	}
	addr := h.Name
	for n := 1; r.names[h.Name] || hosts.CheckName(h.Name) != nil; n++ {
		h.Name = "jump" + strconv.Itoa(n)
	}
	if h.Name != addr {
		h.Addr = addr
	}
	r.names[h.Name] = true
	r.jumps[via] = h.Name
	r.added = append(r.added, h.Name)
	r.extra = append(r.extra, h)
}

// groups writes the groups with their direct members, folded.
func (r *renderer) groups(inv *hosts.Inventory) {
	byName := map[string]hosts.Group{}
	for g := range inv.Groups() {
		byName[g.Name] = g
	}
	if len(byName) == 0 {
		return
	}
	r.WriteString("groups:\n")
	for g := range inv.Groups() {
		inner := map[string]bool{}
		for _, c := range g.Children {
			for _, name := range byName[c].Hosts {
				inner[name] = true
			}
		}
		direct := slices.DeleteFunc(slices.Clone(g.Hosts), func(name string) bool { return inner[name] || r.left[name] })
		fmt.Fprintf(r, "  - name: %s\n", quote(g.Name))
		if words := folded(direct); len(words) > 0 {
			fmt.Fprintf(r, "    hosts: %s\n", list(words))
		}
		if len(g.Children) > 0 {
			fmt.Fprintf(r, "    children: %s\n", list(g.Children))
		}
	}
}

// folded returns names as ranges, one a word.
func folded(names []string) []string {
	if len(names) == 0 {
		return nil
	}
	var out []string
	depth, start := 0, 0
	text := hosts.Fold(names)
	for i := range len(text) {
		switch c := text[i]; {
		case c == '[':
			depth++
		case c == ']':
			depth--
		case c == ',' && depth == 0:
			out = append(out, text[start:i])
			start = i + 1
		}
	}
	return append(out, text[start:])
}

// hosts writes entries, one for several that follow each other where only their names differ.
func (r *renderer) hosts(all []hosts.Host) {
	if len(all) == 0 {
		return
	}
	r.WriteString("hosts:\n")
	for i := 0; i < len(all); {
		if why := all[i].NoLogin; why != "" {
			fmt.Fprintf(r, "  # - name: %s # left out: %s\n", quote(all[i].Name), printable.Line(why))
			i++
			continue
		}
		fields := entry(all[i])
		name, n := all[i].Name, 1
		if word, many := run(all[i:], fields); many > 1 {
			name, n = word, many
		}
		fmt.Fprintf(r, "  - name: %s\n%s", quote(name), fields)
		i += n
	}
}

// maxRun bounds how many hosts one entry stands for.
const maxRun = 500

// run returns the range that the first hosts are, if there are several with these fields whose names differ in numbers.
func run(all []hosts.Host, fields string) (word string, n int) {
	like := digits.ReplaceAllString(all[0].Name, "0")
	var names []string
	for _, h := range all[:min(len(all), maxRun)] {
		if h.NoLogin != "" || digits.ReplaceAllString(h.Name, "0") != like || entry(h) != fields {
			break
		}
		names = append(names, h.Name)
	}
	words := folded(names)
	if len(words) != 1 {
		return "", 1
	}
	if back, err := hosts.Expand(words[0]); err != nil || !slices.Equal(back, names) {
		return "", 1
	}
	return words[0], len(names)
}

var digits = lazyregexp.New(`[0-9]+`)

// entry writes the fields of a host but its name.
func entry(h hosts.Host) string {
	var b strings.Builder
	text := func(key, v string) {
		if v != "" {
			fmt.Fprintf(&b, "    %s: %s\n", key, quote(v))
		}
	}
	texts := func(key string, v []string) {
		if len(v) > 0 {
			fmt.Fprintf(&b, "    %s: %s\n", key, list(v))
		}
	}
	text("transport", string(h.Transport))
	text("addr", h.Addr)
	if h.Port != 0 {
		text("port", strconv.Itoa(int(h.Port)))
	}
	text("user", h.User)
	texts("via", h.Via)
	text("tier", h.Tier)
	var labels []string
	for _, key := range slices.Sorted(maps.Keys(h.Labels)) {
		labels = append(labels, key+"="+h.Labels[key])
	}
	texts("labels", labels)
	texts("identity", h.Identity)
	text("ssh_config", h.SSHConfig)
	if h.ConnectTimeout > 0 {
		text("connect_timeout", h.ConnectTimeout.String())
	}
	text("shell", h.Shell)
	if h.Login {
		text("login", "true")
	}
	texts("env", h.Env)
	texts("command", h.Command)
	text("become", h.Become.String())
	texts("forwards", forwardLines(h))
	for i, one := range h.Ready {
		if i == 0 {
			b.WriteString("    ready:\n")
		}
		fmt.Fprintf(&b, "      - {match: %s, check: %s", quote(one.Match), quote(one.Check))
		if one.Start != "" {
			fmt.Fprintf(&b, ", start: %s", quote(one.Start))
		}
		if one.Wait > 0 {
			fmt.Fprintf(&b, ", wait: %s", one.Wait)
		}
		b.WriteString("}\n")
	}
	return b.String()
}

func list(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = quote(w)
	}
	return "[" + strings.Join(out, ", ") + "]"
}

// quote writes a text as YAML: as it is where that is plainly the text, else in double quotes.
func quote(s string) string {
	plain := s != "" && !strings.ContainsAny(s, " \t\n\"'#:,[]{}&*!|>%@`=?\\~") && s[0] != '-' && utf8.ValidString(s)
	if plain && !strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c > '~' }) {
		switch strings.ToLower(s) {
		case "null", "true", "false", "yes", "no", "on", "off", "y", "n", "---", "...":
		default:
			return s
		}
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			b.WriteString(`\` + string(c))
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\t':
			b.WriteString(`\t`)
		case c < ' ' || c == 0x7f || c == 0x85 || c == 0xa0 || c == 0x2028 || c == 0x2029 || c == 0xfeff:
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteRune(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

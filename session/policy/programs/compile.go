package programs

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/session/policy"
)

type kind uint8

const (
	none      kind = iota
	text           // harmless whatever it says
	patterns       // the same, and no file: a regular expression or a script
	reads          // a file that is read
	writes         // a file that is written
	prefixes       // files that are written: what their names begin with
	dels           // a file that is removed
	stats          // a file of which only name, attributes or size are shown
	pairs          // two words: a name, then text
	pairReads      // two words: a name, then a file that is read
	named          // a host: a name or an address
	urls           // a URL
	shell          // shell source
	cmd            // the name of a program
	rest           // a command, up to the end
	away           // the same, run elsewhere: in a container
)

var kinds = map[string]kind{
	"text": text, "pattern": patterns, "read": reads, "write": writes, "prefix": prefixes, "del": dels, "stat": stats, "pair": pairs, "pairread": pairReads, "host": named, "url": urls, "shell": shell, "cmd": cmd, "rest": rest, "away": away,
}

var classes = map[string]policy.Class{
	"read": read, "secret": secret, "net": network, "write": write, "unknown": unknown, "danger": danger, "priv": priv, "forbid": forbid, "install": installing, "endless": endless, "recode": recode,
}

type option struct {
	names    string
	kind     kind
	optional bool // the value is glued or absent
	supplant bool
	leads    bool // to another host, machine, root or service than the one that the program is called on
	class    policy.Class
}

type long struct {
	name string // with its dashes
	at   uint16
}

type operand struct {
	kind  kind
	class policy.Class
}

type style uint16

const (
	first      style = 1 << iota // options end at the first operand
	exact                        // long options may not be abbreviated
	dashlong                     // -name is a long option, there are no clusters
	inherit                      // the options of the program hold for its subcommands too, before and after them
	pages                        // shows its output in a pager where somebody watches
	assign                       // NAME=VALUE is an option, listed as -NAME
	dotless                      // no option holds a dot
	bundle                       // the first word is a cluster, with or without its dash, whose values follow in order
	words                        // options and operands are not told apart: forms and the check read the words
	bools                        // options without a value take =true and =false, in subcommands too
	open                         // every option of the program is a read, listed or not
	connecting                   // what of it is no read opens connections
)

var styles = map[string]style{
	"first": first, "exact": exact, "dashlong": dashlong, "inherit": inherit, "pages": pages, "bundle": bundle, "assign": assign, "words": words, "dotless": dotless,
	"bools": bools, "open": open, "connects": connecting,
}

// A node is a compiled program or subcommand.
type node struct {
	name     string // "git log"
	rule     string
	class    policy.Class
	why      string
	style    style
	env      []string
	opts     []option
	short    [128]uint16 // index in opts plus one
	long     []long      // sorted
	operands []operand
	repeat   bool // the last operand may be repeated
	uniform  bool // it does not matter which operand is which
	reads    bool // words may name files that are read
	hazard   bool // an option may be more than a read, listed or not: words that aren't literal need care
	bare     bool // it has no options of its own
	forms    []form
	rules    []rule
	checks   []func(*call)
	subs     map[string]*entry
}

func (e *entry) get() *node {
	e.once.Do(e.compile)
	return e.node
}

// compile reads the lines of an entry. Where a table has a mistake, which the tests find, its program is unknown.
func (e *entry) compile() {
	top, _, _ := strings.Cut(e.name, " ")
	n := &node{name: e.name, rule: "programs/" + top, class: read, bare: true, uniform: true}
	lines := e.lines
	if e.up == nil {
		lines = e.split()
	} else {
		n.env, n.style = e.up.env, e.up.style&bools
		if e.up.style&inherit != 0 {
			n.opts, n.short, n.long = slices.Clone(e.up.opts), e.up.short, slices.Clone(e.up.long)
		}
	}
	b := builder{node: n, entry: e}
	b.lines(lines)
	for _, name := range [...]string{"--help", "--version"} {
		// Every long-option program of GNU and most others have these; where one has not, it complains and stops.
		if n.style&words != 0 || slices.ContainsFunc(n.long, func(l long) bool { return l.name == name }) {
			continue
		}
		if top == "git" && name == "--help" {
			name += "!unknown" // starts man, or a browser
		}
		b.options(line{key: name})
	}
	slices.SortFunc(n.long, func(a, b long) int { return strings.Compare(a.name, b.name) })
	for _, l := range b.ifs {
		b.rule(l)
	}
	n.hazard = n.style&open == 0
	n.reads = slices.ContainsFunc(n.opts, func(o option) bool { return o.kind == reads || o.kind == pairReads }) ||
		slices.ContainsFunc(n.operands, func(o operand) bool { return o.kind == reads })
	e.node = n
	if e.err != nil {
		e.node = &node{name: e.name, rule: n.rule, class: unknown, why: "has a mistake in its table", style: words}
	}
}

// A builder fills a node from the lines of a table.
type builder struct {
	*node
	entry *entry
	ifs   []line // rules, which name options: they come last
	deep  int
}

func (b *builder) fail(l line, format string, args ...any) {
	b.entry.err = errors.Join(b.entry.err, fmt.Errorf("%s:%d: %s", b.entry.file, l.at, fmt.Sprintf(format, args...)))
}

func (b *builder) lines(lines []line) {
	for i := 0; i < len(lines); i++ {
		l := lines[i]
		below := i + 1
		for below < len(lines) && lines[below].depth > l.depth {
			below++
		}
		if below > i+1 && l.key != "sub" {
			b.fail(l, "only sub has lines below it")
		}
		b.line(l, lines[i+1:below])
		i = below - 1
	}
}

func (b *builder) line(l line, below []line) {
	switch l.key {
	case "from":
	case "class":
		name, why, _ := strings.Cut(l.rest, " ")
		if b.class, b.why = classes[name], why; b.class == "" {
			b.fail(l, "%s is not a class", name)
		}
	case "style":
		for name := range strings.FieldsSeq(l.rest) {
			if styles[name] == 0 {
				b.fail(l, "%s is not a style", name)
			}
			b.style |= styles[name]
		}
	case "env":
		b.env = append(slices.Clip(b.env), strings.Fields(l.rest)...)
	case "use":
		set := b.entry.of.sets[l.rest]
		if b.deep++; set == nil || b.deep > 4 {
			b.fail(l, "%s is not a set", l.rest)
			return
		}
		b.lines(set.split())
		b.deep--
	case "operands":
		b.arguments(l)
	case "form", "ownform":
		f := newForm(read, l.rest)
		f.own = l.key == "ownform"
		b.forms = append(b.forms, f)
	case "if":
		b.ifs = append(b.ifs, l)
	case "check":
		for name := range strings.FieldsSeq(l.rest) {
			if checks[name] == nil {
				b.fail(l, "%s is not a check", name)
			}
			b.checks = append(b.checks, checks[name])
		}
	case "sub":
		if b.subs == nil {
			b.subs = map[string]*entry{}
		}
		for name := range strings.FieldsSeq(l.rest) {
			if b.subs[name] != nil {
				b.fail(l, "%s is there twice", name)
			}
			b.subs[name] = &entry{block: b.entry.block, of: b.entry.of, name: b.name + " " + name, lines: below, up: b.node}
		}
	default:
		if class, ok := strings.CutPrefix(l.key, "form!"); ok && classes[class] != "" {
			b.forms = append(b.forms, newForm(classes[class], l.rest))
			return
		}
		if !strings.HasPrefix(l.key, "-") {
			b.fail(l, "%s is nothing that a table says", l.key)
			return
		}
		b.options(l)
	}
}

func (b *builder) options(l line) {
	b.bare = b.bare && l.at == 0
	for item := range strings.FieldsSeq(l.key) {
		var o option
		spec := item
		spec, o.supplant = strings.CutSuffix(spec, "^")
		spec, o.leads = strings.CutSuffix(spec, ">")
		spec, class, _ := strings.Cut(spec, "!")
		names, value, needs := strings.Cut(spec, "=")
		if !needs {
			names, value, o.optional = strings.Cut(spec, "?")
		}
		if value != "" {
			if o.kind = kinds[value]; o.kind == none {
				b.fail(l, "%s has no kind of value that is known", item)
			}
		}
		o.names = names
		o.class = b.classFor(l, class, o.kind)
		at := uint16(len(b.opts) + 1)
		for name := range strings.SplitSeq(names, ",") {
			if len(name) < 2 || name[0] != '-' {
				b.fail(l, "%s is not an option", item)
				continue
			}
			b.enter(name, at)
		}
		b.opts = append(b.opts, o)
	}
}

// enter enters one name; a subcommand's own option hides an inherited one.
func (b *builder) enter(name string, at uint16) {
	if len(name) == 2 {
		b.short[name[1]] = at
		if b.style&dashlong == 0 {
			return
		}
	}
	i := slices.IndexFunc(b.long, func(l long) bool { return l.name == name })
	if i >= 0 {
		b.long[i].at = at
		return
	}
	b.long = append(b.long, long{name, at})
}

func (b *builder) arguments(l line) {
	list, repeat := strings.CutSuffix(l.rest, "...")
	b.repeat = repeat
	for item := range strings.FieldsSeq(list) {
		k, class, _ := strings.Cut(item, "!")
		o := operand{kind: kinds[k]}
		if o.kind == none {
			b.fail(l, "%s is not a kind of operand", item)
		}
		o.class = b.classFor(l, class, o.kind)
		b.operands = append(b.operands, o)
		if o.class != read || o.kind >= rest {
			b.uniform = false
		}
	}
}

func (b *builder) classFor(l line, class string, k kind) policy.Class {
	switch {
	case class == "ask":
		return unknown
	case class != "":
		c, ok := classes[class]
		if !ok {
			b.fail(l, "%s is not a class", class)
		}
		return c
	case k == writes || k == prefixes || k == dels:
		return write
	case k == shell || k == cmd:
		return unknown
	}
	return read
}

// lookup finds an option by one of its names.
func (n *node) lookup(name string) uint16 {
	if len(name) == 2 && name[1] < 128 {
		if at := n.short[name[1]]; at != 0 {
			return at
		}
	}
	if i, ok := slices.BinarySearchFunc(n.long, name, func(l long, s string) int { return strings.Compare(l.name, s) }); ok {
		return n.long[i].at
	}
	return 0
}

// abbreviated finds a long option by the start of its name: 0 for none, many for several that differ.
func (n *node) abbreviated(name string) (at uint16, many bool) {
	i, _ := slices.BinarySearchFunc(n.long, name, func(l long, s string) int { return strings.Compare(l.name, s) })
	for ; i < len(n.long) && strings.HasPrefix(n.long[i].name, name); i++ {
		if at != 0 && n.long[i].at != at {
			return 0, true
		}
		at = n.long[i].at
	}
	return at, false
}

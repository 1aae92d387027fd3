package programs

import (
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/session/policy"
)

type kind uint8

const (
	none      kind = iota
	text           // harmless whatever it says
	reads          // a file that is read
	writes         // a file that is written
	dels           // a file that is removed
	stats          // a file of which only name, attributes or size are shown
	pairs          // two words: a name, then text
	pairReads      // two words: a name, then a file that is read
	shell          // shell source
	cmd            // the name of a program
	rest           // a command, up to the end
)

var kinds = map[string]kind{
	"text": text, "read": reads, "write": writes, "del": dels, "stat": stats, "pair": pairs, "pairread": pairReads, "shell": shell, "cmd": cmd, "rest": rest,
}

var classes = map[string]policy.Class{
	"secret": secret, "write": write, "unknown": unknown, "danger": danger, "priv": priv, "forbid": forbid,
}

type option struct {
	kind     kind
	optional bool // the value is glued or absent
	soft     bool // unknown where written out, harmless where a glob grows into it
	supplant bool
	class    policy.Class
	reason   string
}

type long struct {
	name string // with its dashes
	at   uint16
}

type operand struct {
	kind   kind
	class  policy.Class
	reason string
}

// A node is a compiled program or subcommand.
type node struct {
	program    *program
	name       string // "git log"
	rule       string
	reason     string // of its own class
	readReason string
	opts       []option
	short      [128]uint16 // index in opts plus one
	long       []long      // sorted
	operands   []operand
	repeat     bool // the last operand may be repeated
	uniform    bool // it does not matter which operand is which
	hazard     bool // an option or operand is more than a read: words that aren't literal need care
	subs       map[string]*node
	env        []string
}

// compile reads the table's notation. A mistake in a table panics: the tests compile every entry.
func compile(table []program, p *program, top, name string, up *node) *node {
	n := &node{program: p, name: name, rule: "programs/" + top, reason: name + " " + phrase(p.classOf()),
		readReason: name + " changes nothing"}
	if p.why != "" {
		n.reason = name + " " + p.why
	}
	if up != nil {
		n.env = up.env
		if up.program.style&inherit != 0 {
			n.opts, n.short, n.long = slices.Clone(up.opts), up.short, slices.Clone(up.long)
			n.hazard = n.hazard || hazardous(n.opts)
		}
	}
	n.env = append(slices.Clip(n.env), strings.Fields(p.env)...)
	if p.like != "" {
		at := slices.IndexFunc(table, func(q program) bool { return q.name == p.like })
		if at < 0 {
			panic("programs: " + name + " is like " + p.like + ", which its table does not have")
		}
		n.options(table[at].opts)
	}
	n.options(p.opts)
	for _, name := range [...]string{"--help", "--version"} {
		// Every long-option program of GNU and most others have these; where one has not, it complains and stops.
		if !p.raw && !slices.ContainsFunc(n.long, func(l long) bool { return l.name == name }) {
			n.options(name)
		}
	}
	slices.SortFunc(n.long, func(a, b long) int { return strings.Compare(a.name, b.name) })
	n.arguments(p.args)
	n.hazard = hazardous(n.opts) || n.hazard || p.check != nil && !p.calm
	if len(p.sub) > 0 {
		n.subs = make(map[string]*node, len(p.sub))
		for i := range p.sub {
			for s := range strings.SplitSeq(p.sub[i].name, "|") {
				if n.subs[s] != nil {
					panic("programs: " + name + " " + s + " stands twice")
				}
				n.subs[s] = compile(p.sub, &p.sub[i], top, name+" "+s, n)
			}
		}
		n.hazard = true
	}
	return n
}

func (p *program) classOf() policy.Class {
	if p.class == "" {
		return read
	}
	return p.class
}

func hazardous(opts []option) bool {
	return slices.ContainsFunc(opts, func(o option) bool { return o.class != read && !o.soft })
}

func (n *node) options(list string) {
	for item := range strings.FieldsSeq(list) {
		var o option
		spec := item
		spec, o.supplant = strings.CutSuffix(spec, "^")
		spec, class, _ := strings.Cut(spec, "!")
		names, value, needs := strings.Cut(spec, "=")
		if !needs {
			names, value, o.optional = strings.Cut(spec, "?")
		}
		if value != "" {
			if o.kind = kinds[value]; o.kind == none {
				panic("programs: " + n.name + ": no kind of value: " + item)
			}
		}
		o.class, o.soft = classFor(n.name, item, class, o.kind)
		at := uint16(len(n.opts) + 1)
		for name := range strings.SplitSeq(names, ",") {
			if len(name) < 2 || name[0] != '-' {
				panic("programs: " + n.name + ": not an option: " + item)
			}
			n.name1(name, at)
		}
		o.reason = n.name + " " + names + " " + phrase(o.class)
		n.opts = append(n.opts, o)
	}
}

// name1 enters one name; a subcommand's own option hides an inherited one.
func (n *node) name1(name string, at uint16) {
	if len(name) == 2 {
		n.short[name[1]] = at
		if n.program.style&dashlong == 0 {
			return
		}
	}
	i := slices.IndexFunc(n.long, func(l long) bool { return l.name == name })
	if i >= 0 {
		n.long[i].at = at
		return
	}
	n.long = append(n.long, long{name, at})
}

func (n *node) arguments(list string) {
	list, n.repeat = strings.CutSuffix(list, "...")
	n.uniform = true
	for item := range strings.FieldsSeq(list) {
		k, class, _ := strings.Cut(item, "!")
		o := operand{kind: kinds[k]}
		if o.kind == none {
			panic("programs: " + n.name + ": no kind of operand: " + item)
		}
		o.class, _ = classFor(n.name, item, class, o.kind)
		o.reason = n.name + " with an operand " + phrase(o.class)
		n.operands = append(n.operands, o)
		if o.class != read || o.kind == rest {
			n.hazard, n.uniform = true, false
		}
	}
}

func classFor(name, item, class string, k kind) (policy.Class, bool) {
	switch {
	case class == "ask":
		return unknown, true
	case class != "":
		c, ok := classes[class]
		if !ok {
			panic("programs: " + name + ": no class: " + item)
		}
		return c, false
	case k == writes || k == dels:
		return write, false
	case k == shell || k == cmd:
		return unknown, false
	}
	return read, false
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

package programs

import (
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// parse reads options and operands as getopt does, by the node's lists.
func (c *call) parse(args []Arg) {
	n := c.node
	for i := 0; i < len(args); i++ {
		a := args[i]
		s := a.Text
		switch {
		case i == 0 && n.style&bundle != 0 && a.certain() && s != "" && s[0] != '-':
			i = c.bundled(args)
		case n.style&assign != 0 && strings.Contains(s, "="):
			a.Text = "-" + s
			if a.certain() {
				c.long([]Arg{a}, 0)
			} else if !c.gluedLong(a) {
				c.unlisted()
			}
		case !a.certain():
			glued := c.gluedLong(a)
			if glued && !a.Split {
				continue
			}
			c.uncertain(a)
			if glued {
				continue
			}
			if c.operand(args, i, false) {
				return
			}
		case s == "--":
			if i++; i < len(args) {
				c.loosen(args[i])
				c.operand(args, i, true)
				return
			}
		case len(s) < 2 || s[0] != '-':
			if c.operand(args, i, false) {
				return
			}
		case n.style&dashlong != 0, s[1] == '-':
			i += c.long(args, i)
		default:
			i += c.cluster(args, i)
		}
	}
	c.finish()
}

// loosen notes a word that may become none or several: it is not certain then which operand is which.
func (c *call) loosen(a Arg) bool {
	is := a.Split || a.Glob
	c.loose = c.loose || is
	return is
}

// uncertain looks at a word that isn't literal and may be an option.
func (c *call) uncertain(a Arg) {
	c.loosen(a)
	if a.Glob && c.node.style&dotless != 0 && forExtension.MatchString(a.Source) {
		return
	}
	if (a.dash() || a.Operand && c.node.style&(bundle|assign) != 0) && (c.node.hazard || c.node.class != read && strings.HasPrefix(a.Text, "-")) {
		c.say(unknown, "may have options that do more than read, and a word that isn't literal could be one"+c.behindDashes())
	}
}

// forExtension fits patterns of names that end in an extension.
var forExtension = lazyregexp.New(`^[\w./*?-]*\.\w+$`)

// behindDashes says how a word that isn't literal is no option, where no more is needed for a read.
func (c *call) behindDashes() string {
	n := c.node
	if n.class != read || n.style&(dashlong|assign|bundle|open) != 0 || len(n.operands) == 0 || strings.HasPrefix(n.name, "git") {
		return "" // what stands behind -- for git is a path
	}
	for _, o := range n.operands {
		if o.class != read && o.class != "" || o.kind != text && o.kind != patterns && o.kind != stats {
			return ""
		}
	}
	return ": write it last, behind --"
}

// gluedLong reads --name="$x": the name is certain, only the value is not.
func (c *call) gluedLong(a Arg) bool {
	name, prefix, ok := strings.Cut(a.Text, "=")
	if !ok || !strings.HasPrefix(name, "--") && c.node.style&assign == 0 {
		return false
	}
	at := c.node.lookup(name)
	if at == 0 || c.node.opts[at-1].kind == none {
		return false
	}
	v := a
	v.Text, v.Literal = prefix, false
	c.set(at, &v)
	return true
}

// operand takes args[i]; it returns true when the rest was taken too. After "--" there are no more options.
func (c *call) operand(args []Arg, i int, after bool) bool {
	n := c.node
	if n.subs != nil && len(c.ops) == 0 {
		c.descend(args, i)
		return true
	}
	if n.style&first == 0 && !after && !c.atCommand() {
		c.ops = append(c.ops, args[i])
		return false
	}
	// Options end here: everything else is an operand, or the command that is run.
	runs := false
	for _, a := range args[i:] {
		if runs = runs || c.atCommand(); !runs {
			c.loosen(a)
		}
		c.ops = append(c.ops, a)
	}
	c.finish()
	return true
}

// atCommand says that the next operand is the first word of a command.
func (c *call) atCommand() bool {
	at := len(c.ops)
	if c.supplant {
		at++
	}
	return at < len(c.node.operands) && c.node.operands[at].kind >= rest
}

// descend goes on with a subcommand.
func (c *call) descend(args []Arg, i int) {
	n := c.node
	a := args[i]
	if !a.certain() {
		c.say(unknown, "needs a literal subcommand")
		return
	}
	sub := n.subs[a.Text]
	c.ops = append(c.ops, args[i:]...)
	if sub == nil {
		c.say(unknown, "has a subcommand that no table lists")
	}
	c.judgeChecks()
	if sub == nil {
		return
	}
	c.ops = c.ops[:0]
	if n.style&inherit == 0 {
		c.seen, c.vals = c.seen[:0], c.vals[:0]
	}
	c.node, c.supplant = sub.get(), false
	c.find.Env = c.node.env
	if c.find.Class == read {
		c.find.Reason = ""
	}
	c.begin()
	c.parse(args[i+1:])
}

func (c *call) long(args []Arg, i int) (used int) {
	n := c.node
	s := args[i].Text
	name, val, glued := strings.Cut(s, "=")
	at := n.lookup(name)
	if at == 0 && n.style&dashlong != 0 && strings.HasPrefix(name, "--") && n.style&exact == 0 {
		at = n.lookup(name[1:])
	}
	if at == 0 && n.style&(exact|dashlong) == 0 {
		var many bool
		if at, many = n.abbreviated(name); many {
			c.say(unknown, "has an abbreviated option that is not unique")
			return 0
		}
	}
	if at == 0 {
		c.unlisted()
		return 0
	}
	switch o := &n.opts[at-1]; {
	case o.kind == none:
		if glued && n.style&bools != 0 && val == "false" {
			return 0
		}
		if glued && (n.style&bools == 0 || val != "true") {
			c.unlisted()
		}
		c.set(at, nil)
	case glued:
		v := word(val)
		c.set(at, &v)
	case o.optional:
		c.set(at, nil)
	default:
		return c.next(at, args, i)
	}
	return 0
}

// unlisted: what an option does that no table lists, nobody can tell. Where a program is no read and its table lists
// nothing, that was said already; but not where a subcommand may follow, which is what it is by itself.
func (c *call) unlisted() {
	if c.node.bare && c.node.subs == nil && rank(c.node.class) >= rank(write) {
		return
	}
	c.say(unknown, "has an option that no table lists")
}

// next takes the following word as the value.
func (c *call) next(at uint16, args []Arg, i int) int {
	if i+1 >= len(args) {
		c.say(unknown, "has an option that lacks its value")
		c.lead(&c.node.opts[at-1])
		return 0
	}
	v := args[i+1]
	if c.loosen(v) {
		// No word, or several: what follows may be options, or values of others.
		if c.node.hazard {
			c.say(unknown, "has an option whose value may become several words")
		}
	}
	c.set(at, &v)
	if k := c.node.opts[at-1].kind; k == pairs || k == pairReads {
		if i+2 >= len(args) {
			c.say(unknown, "has an option that lacks its second value")
			return 1
		}
		second := args[i+2]
		if c.loosen(second) {
			c.say(unknown, "has an option whose value may become several words")
		}
		if k == pairReads {
			c.path(second, false)
		}
		return 2
	}
	return 1
}

// bundled reads tar's first word: letters without a dash, whose values follow in order.
func (c *call) bundled(args []Arg) (used int) {
	for _, b := range []byte(args[0].Text) {
		at := uint16(0)
		if b < 128 {
			at = c.node.short[b]
		}
		switch {
		case at == 0:
			c.unlisted()
		case c.node.opts[at-1].kind == none || c.node.opts[at-1].optional:
			c.set(at, nil)
		default:
			used += c.next(at, args, used)
		}
	}
	return used
}

func (c *call) cluster(args []Arg, i int) (used int) {
	n := c.node
	s := args[i].Text[1:]
	number := false
	for k := 0; k < len(s); k++ {
		b := s[k]
		if b >= 128 {
			c.unlisted()
			return 0
		}
		at := n.short[b]
		if at == 0 && '0' <= b && b <= '9' && n.short['#'] != 0 {
			for k+1 < len(s) && '0' <= s[k+1] && s[k+1] <= '9' {
				k++
			}
			c.set(n.short['#'], nil)
			number = true
			continue
		}
		if at == 0 || b == '#' {
			c.unlisted()
			continue
		}
		switch o := &n.opts[at-1]; {
		case o.kind == none:
			c.set(at, nil)
		case k+1 < len(s):
			v := word(s[k+1:])
			c.set(at, &v)
			return 0
		case o.optional:
			c.set(at, nil)
		case number: // "nice -3n WORD" is one word of nice's, which is no number, and WORD may be an option
			c.unlisted()
			return 0
		default:
			return c.next(at, args, i)
		}
	}
	return 0
}

// set notes an option and what it means.
func (c *call) set(at uint16, v *Arg) {
	c.seen = append(c.seen, at)
	o := &c.node.opts[at-1]
	if o.class != read {
		c.say(o.class, o.names+" "+phrase(o.class))
	}
	if o.supplant {
		c.supplant = true
	}
	c.lead(o)
	if v == nil {
		return
	}
	c.vals = append(c.vals, value{at, *v})
	c.take(o.kind, *v)
}

// lead notes an option that leads elsewhere.
func (c *call) lead(o *option) {
	if o.leads {
		c.find.Leads = append(c.find.Leads, o.names)
	}
}

// take notes what a value or operand of that kind means.
func (c *call) take(k kind, a Arg) {
	switch k {
	case patterns:
		if !c.loose && !slices.ContainsFunc(c.args, func(a Arg) bool { return !a.certain() && a.dash() }) {
			c.find.Texts = append(c.find.Texts, a)
		}
	case reads:
		c.path(a, false)
	case stats:
		c.find.Paths = append(c.find.Paths, Path{Arg: a, Stat: true})
	case writes:
		c.path(a, true)
	case prefixes:
		a.Literal = false // the names go on
		c.path(a, true)
	case dels:
		c.remove(a)
	case named:
		c.reachHost(a)
	case urls:
		c.reachURL(a)
	case shell:
		a.Text = strings.TrimPrefix(a.Text, "exec=") // tar --checkpoint-action=exec=…
		c.script("", a)
	case cmd:
		c.nest([]Arg{a})
	}
}

// finish gives the operands their roles.
func (c *call) finish() {
	n := c.node
	if n.subs != nil {
		c.own()
	}
	if c.loose && !n.uniform && n.hazard {
		c.say(unknown, "has operands whose number is not certain, and they are not alike")
	}
	at := 0
	if c.supplant {
		at = 1
	}
	for i, a := range c.ops {
		if at >= len(n.operands) {
			if n.repeat {
				at = len(n.operands) - 1
			} else {
				c.say(unknown, "has more operands than the table knows")
				break
			}
		}
		o := &n.operands[at]
		c.sayOperand(*o)
		if o.kind == rest {
			c.nest(c.ops[i:])
			break
		}
		if o.kind == away {
			c.nestRemote(c.ops[i:])
			break
		}
		c.take(o.kind, a)
		at++
	}
	c.judgeChecks()
}

func (c *call) sayOperand(o operand) {
	if o.class != read {
		c.say(o.class, "with an operand "+phrase(o.class))
	}
}

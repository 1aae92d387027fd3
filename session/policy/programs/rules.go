package programs

import (
	"strings"

	"github.com/fairlead-ssh/fairlead/session/policy"
)

// A form is a whole call that is a read, word by word.
type form []token

type token struct {
	any      []string // the words that fit; WORD and FILE stand for any operand
	optional bool     // ? and *
	repeated bool     // + and *
}

func newForm(s string) form {
	var f form
	for item := range strings.FieldsSeq(s) {
		var t token
		if n := len(item) - 1; n > 0 && strings.IndexByte("?*+", item[n]) >= 0 {
			t.optional, t.repeated = item[n] != '+', item[n] != '?'
			item = item[:n]
		}
		t.any = strings.Split(item, "|")
		f = append(f, t)
	}
	return f
}

// fits says whether a word can stand for the token. Only a FILE need not be literal.
func (t token) fits(a Arg) bool {
	for _, s := range t.any {
		switch {
		case s == "FILE":
			if !a.dash() {
				return true
			}
		case !a.certain():
		case s == "WORD":
			if !a.dash() {
				return true
			}
		case s == "NUMBER":
			if a.Text != "" && strings.Trim(a.Text, digits) == "" {
				return true
			}
		case matches(s, a.Text):
			return true
		}
	}
	return false
}

// match keeps the set of tokens that may come next.
func (f form) match(args []Arg) bool {
	open := func(set uint64) uint64 {
		for i, t := range f {
			if set&(1<<i) != 0 && t.optional {
				set |= 1 << (i + 1)
			}
		}
		return set
	}
	set := open(1)
	for _, a := range args {
		next := uint64(0)
		for i, t := range f {
			if set&(1<<i) == 0 || !t.fits(a) {
				continue
			}
			next |= 1 << (i + 1)
			if t.repeated {
				next |= 1 << i
			}
		}
		if set = open(next); set == 0 {
			return false
		}
	}
	return set&(1<<len(f)) != 0
}

// form says whether the call has one of the forms that are reads, and notes the files that it names.
func (c *call) form() bool {
	for _, f := range c.node.forms {
		if !f.match(c.args) {
			continue
		}
		for _, t := range f {
			for _, s := range t.any {
				if s != "FILE" {
					continue
				}
				for _, a := range c.args {
					if !a.dash() {
						c.path(a, false)
					}
				}
				return true
			}
		}
		return true
	}
	return false
}

// matches compares a word with a pattern in which * stands for anything.
func matches(pattern, s string) bool {
	before, after, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == s
	}
	if !strings.HasPrefix(s, before) {
		return false
	}
	if after == "" {
		return true
	}
	for s = s[len(before):]; ; s = s[1:] {
		if matches(after, s) {
			return true
		}
		if s == "" {
			return false
		}
	}
}

// A rule raises the class where all its conditions hold.
type rule struct {
	conds []cond
	class policy.Class
	why   string
}

type cond struct {
	subject byte // 'o' options, 'v' value of an option, 'a' any operand, 'w' any word, '#' how many operands, 'n' the nth operand, 't' typed into
	not     bool
	opts    []uint16
	n       int
	any     []string
}

func (b *builder) rule(l line) {
	conds, then, ok := strings.Cut(l.rest, ": ")
	class, why, _ := strings.Cut(then, " ")
	r := rule{class: classes[class], why: why}
	if !ok || r.class == "" {
		b.fail(l, "want if CONDITION…: CLASS WHY")
		return
	}
	for s := range strings.FieldsSeq(conds) {
		r.conds = append(r.conds, b.cond(l, s))
	}
	b.rules = append(b.rules, r)
}

func (b *builder) cond(l line, s string) (c cond) {
	subject, pattern, valued := strings.Cut(s, "=")
	if strings.HasPrefix(s, "-") || strings.HasPrefix(s, "!-") {
		// --option=x has no equals sign in its name.
		subject, c.not = strings.CutPrefix(subject, "!")
	}
	if valued {
		subject, c.not = strings.CutSuffix(subject, "!")
		c.any = strings.Split(pattern, "|")
	}
	switch {
	case subject == "typed":
		c.subject = 't'
	case subject == "any" && valued:
		c.subject = 'a'
	case subject == "word" && valued:
		c.subject = 'w'
	case subject == "operands", subject == "none":
		c.subject, c.not = '#', subject == "none"
	case strings.HasPrefix(subject, "operands>"):
		c.subject, c.n = '#', int(subject[len(subject)-1]-'0')
	case len(subject) == 1 && '1' <= subject[0] && subject[0] <= '9' && valued:
		c.subject, c.n = 'n', int(subject[0]-'1')
	case strings.HasPrefix(subject, "-"):
		c.subject = 'o'
		if valued {
			c.subject = 'v'
		}
		for name := range strings.SplitSeq(subject, "|") {
			at := b.lookup(name)
			if at == 0 {
				b.fail(l, "%s is no option of this program", name)
			}
			c.opts = append(c.opts, at)
		}
	default:
		b.fail(l, "%s is no condition", s)
	}
	return c
}

// holds: whether a condition holds is not certain where it rests on a word that isn't literal.
type holds uint8

const (
	no holds = iota
	maybe
	yes
)

func (c *call) judgeRules() {
	for _, r := range c.node.rules {
		if Severity(r.class) <= Severity(c.find.Class) && r.class != forbid {
			continue
		}
		all := yes
		for _, k := range r.conds {
			all = min(all, c.holds(k))
		}
		switch all {
		case yes:
			c.say(r.class, r.why)
		case maybe:
			c.say(unknown, "has a word that isn't literal, and means different things by it")
		}
	}
}

func (c *call) holds(k cond) holds {
	is := no
	switch k.subject {
	case 't':
		is = truth(c.interactive)
	case 'o':
		for _, at := range k.opts {
			is = max(is, truth(c.seen[at/64]&(1<<(at%64)) != 0))
		}
		if k.not {
			is = yes - is
		}
	case '#':
		is = truth(len(c.ops) > k.n)
		if k.not {
			is = yes - is
		}
	case 'n':
		if k.n < len(c.ops) {
			is = k.on(c.ops[k.n])
		}
	case 'a', 'w':
		list := c.ops
		if k.subject == 'w' {
			list = c.args
		}
		for _, a := range list {
			is = max(is, k.on(a))
		}
	case 'v':
		for _, v := range c.vals {
			for _, at := range k.opts {
				if v.at == at {
					is = max(is, k.on(v.arg))
				}
			}
		}
	}
	return is
}

// on says whether one word is, or with not is none, of the patterns.
func (k cond) on(a Arg) holds {
	is := no
	for _, p := range k.any {
		switch {
		case a.certain():
			is = max(is, truth(matches(p, a.Text)))
		case a.Split:
			is = max(is, maybe)
		default:
			known := a.Text
			if a.Glob {
				known = known[:len(known)-len(strings.TrimLeft(known, identifier+"/.-"))]
			}
			before, _, star := strings.Cut(p, "*")
			if strings.HasPrefix(before, known) || star && strings.HasPrefix(known, before) {
				is = max(is, maybe)
			}
		}
	}
	if k.not {
		return yes - is
	}
	return is
}

func truth(b bool) holds {
	if b {
		return yes
	}
	return no
}

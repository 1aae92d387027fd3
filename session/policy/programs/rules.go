package programs

import (
	"regexp"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts/wildcard"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

const identifier = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789"

const digits = "0123456789"

// A form is what a whole call looks like, word by word, and the class that it has then.
type form struct {
	tokens []token
	class  policy.Class
	files  bool // it names files
	own    bool // only where the session's own shell runs the program
}

type token struct {
	any      []string // the words that fit
	optional bool     // [x]
	repeated bool     // x...
}

func newForm(class policy.Class, s string) form {
	f := form{class: class, files: strings.Contains(s, "FILE")}
	for item := range strings.FieldsSeq(s) {
		var t token
		item, t.repeated = strings.CutSuffix(item, "...")
		if inner, ok := strings.CutPrefix(item, "["); ok {
			item, t.optional = strings.TrimSuffix(inner, "]"), true
		}
		t.any = strings.Split(item, "|")
		f.tokens = append(f.tokens, t)
	}
	return f
}

// fits says whether a word can stand for the token. Only ANY, a FILE and an ARG need not be literal.
func (t token) fits(a Arg) bool {
	for _, s := range t.any {
		if letters, ok := strings.CutPrefix(s, "-{"); ok {
			if a.certain() && len(a.Text) > 1 && a.Text[0] == '-' && strings.Trim(a.Text[1:], letters[:len(letters)-1]) == "" {
				return true
			}
			continue
		}
		switch s {
		case "ANY":
			return true
		case "FILE", "ARG":
			if !a.dash() {
				return true
			}
		case "WORD":
			if a.certain() && !a.dash() {
				return true
			}
		case "NAME", "PLAIN":
			if a.certain() && !a.dash() && strings.Trim(a.Text, identifier+".:/@%-") == "" && (s == "NAME" || !strings.Contains(a.Text, "/")) {
				return true
			}
		case "NUMBER", "%NUMBER":
			if t := strings.TrimPrefix(a.Text, "%"); a.certain() && t != "" && strings.Trim(t, digits) == "" {
				return true
			}
		case "$!":
			if strings.Trim(a.Source, `"`) == s {
				return true
			}
		default:
			if a.certain() && wildcard.Match(a.Text, s) && !strings.Contains(a.Text, "..") {
				return true
			}
		}
	}
	return false
}

// single says whether a word that may become several stands where the form names one file, and nothing may follow it.
func (f form) single(i int, a Arg) bool {
	return (a.Glob || a.Split) && !f.tokens[i].repeated && slices.Contains(f.tokens[i].any, "FILE") &&
		(i+1 == len(f.tokens) || !f.tokens[i+1].repeated)
}

// match keeps the set of tokens that may come next.
func (f form) match(args []Arg) bool {
	open := func(set uint64) uint64 {
		for i, t := range f.tokens {
			if set&(1<<i) != 0 && t.optional {
				set |= 1 << (i + 1)
			}
		}
		return set
	}
	set := open(1)
	for _, a := range args {
		next := uint64(0)
		for i, t := range f.tokens {
			if set&(1<<i) == 0 || !t.fits(a) || f.single(i, a) {
				continue
			}
			next |= 1 << (i + 1)
			if t.repeated {
				next |= 1 << i
			}
		}
		set = open(next)
	}
	return set&(1<<len(f.tokens)) != 0
}

// form says whether the call has one of the forms that are known, and notes the files that it names.
func (c *call) form() bool {
	for _, f := range c.node.forms {
		if f.own && !c.direct || !f.match(c.args) {
			continue
		}
		for _, a := range c.args {
			if f.files && !a.dash() {
				c.path(a, false)
			}
		}
		c.say(f.class, phrase(f.class))
		return true
	}
	return false
}

// A rule raises the class where all its conditions hold.
type rule struct {
	conds []cond
	class policy.Class
	why   string
	wrote string // what is written then: operands, last, or an option
}

type cond struct {
	subject byte // 'o' options, 'v' value of an option, 'a' any operand, 'w' any word, '#' how many operands, 'n' the nth operand, 't' typed into, 'f' through a function of ours
	not     bool
	items   bool // of a list, each
	opts    []uint16
	n       int
	any     []string
	fits    *regexp.Regexp // in their place
}

func (b *builder) rule(l line) {
	conds, then, ok := strings.Cut(l.rest, ": ")
	class, why, _ := strings.Cut(then, " ")
	class, wrote, _ := strings.Cut(class, "=")
	r := rule{class: classes[class], why: why, wrote: wrote}
	if strings.HasPrefix(wrote, "-") && b.lookup(wrote) == 0 {
		b.fail(l, "%s is not an option of this program", wrote)
	}
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
	subject, valued := s, false
	if i := strings.IndexAny(s, "=~@"); i > 0 {
		subject, valued = s[:i], true
		if c.items = s[i] == '~'; s[i] == '@' {
			var err error
			if c.fits, err = regexp.Compile("^(?s:" + s[i+1:] + ")$"); err != nil {
				b.fail(l, "%v", err)
			}
		} else {
			c.any = strings.Split(s[i+1:], "|")
		}
		subject, c.not = strings.CutSuffix(subject, "!")
	} else if strings.HasPrefix(s, "!") {
		subject, c.not = s[1:], true
	}
	switch {
	case subject == "typed":
		c.subject = 't'
	case subject == "own":
		c.subject = 'f'
	case subject == "any" && valued:
		c.subject = 'a'
	case subject == "word" && valued:
		c.subject = 'w'
	case subject == "operands":
		c.subject = '#'
	case subject == "none":
		c.subject, c.not = '#', true
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
				b.fail(l, "%s is not an option of this program", name)
			}
			c.opts = append(c.opts, at)
		}
	default:
		b.fail(l, "%s is not a condition", s)
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
		if r.class != recode && r.class != forbid && rank(r.class) <= rank(c.find.Class) && r.wrote == "" {
			continue
		}
		all := yes
		for _, k := range r.conds {
			all = min(all, c.holds(k))
		}
		switch all {
		case yes:
			c.say(r.class, r.why)
			c.wrote(r.wrote)
		case maybe:
			c.say(unknown, "has a word that isn't literal, which decides whether it "+r.why)
		}
	}
}

func (c *call) holds(k cond) holds {
	is := no
	switch k.subject {
	case 't':
		is = truth(c.interactive)
	case 'f':
		is = truth(c.direct != k.not)
	case 'o':
		for _, at := range k.opts {
			is = max(is, truth(slices.Contains(c.seen, at)))
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

// wrote notes that operands, or the values of an option, are written.
func (c *call) wrote(what string) {
	ops := c.ops
	switch {
	case what == "":
		return
	case what == "last":
		ops = ops[max(0, len(ops)-1):]
	case what[0] == '-':
		ops = nil
		for _, v := range c.vals {
			if v.at == c.node.lookup(what) {
				ops = append(ops, v.arg)
			}
		}
	}
	for _, a := range ops {
		i := len(c.find.Paths) - 1
		for i >= 0 && c.find.Paths[i].Arg != a {
			i--
		}
		if i >= 0 {
			c.find.Paths[i] = Path{Arg: a, Write: true}
		} else {
			c.path(a, true)
		}
	}
}

// on says whether one word is, or with not is none, of the patterns.
func (k cond) on(a Arg) holds {
	is := no
	texts := []string{a.Text}
	if k.items {
		texts = strings.Split(a.Text, ",")
	}
	switch {
	case k.fits == nil:
	case a.certain():
		is = truth(k.fits.MatchString(a.Text))
	default:
		is = maybe
	}
	for _, p := range k.any {
		switch {
		case a.certain():
			for _, s := range texts {
				is = max(is, truth(wildcard.Match(s, p) && !(k.leadsOut(p) && strings.Contains(s, ".."))))
			}
		case a.Split, k.items:
			is = max(is, maybe)
		default:
			known := a.Text
			if a.Glob {
				known = known[:len(known)-len(strings.TrimLeft(known, identifier+"/.-"))]
			}
			before, star := p, false
			if i := strings.IndexAny(p, "*?"); i >= 0 {
				before, star = p[:i], true
			}
			switch {
			case star && before+"*" == p && strings.HasPrefix(known, before) && !k.leadsOut(p):
				is = yes
			case strings.HasPrefix(before, known) || star && strings.HasPrefix(known, before):
				is = max(is, maybe)
			}
		}
	}
	if k.not {
		return yes - is
	}
	return is
}

// leadsOut reports whether what a pattern excepts is all below a directory, which .. leads out of.
func (k cond) leadsOut(p string) bool {
	return k.not && p[0] == '/' && p != "/*" && strings.HasSuffix(p, "*")
}

func truth(b bool) holds {
	if b {
		return yes
	}
	return no
}

package programs

import (
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/session/policy"
)

// A call is one judgement at work.
type call struct {
	args        []Arg
	shell       string
	stdin       string
	sum         bool
	interactive bool
	identifiers bool
	bounded     bool
	direct      bool
	node        *node
	find        Finding

	seen     []uint16 // the options that were given
	vals     []value
	ops      []Arg
	loose    bool // some word may become none or several: which operand is which is not certain
	supplant bool
}

type value struct {
	at  uint16
	arg Arg
}

// Judge says what a call means. It runs nothing and may be called concurrently.
func Judge(c Call) Finding {
	return index().judge(c)
}

func (t *tables) judge(c Call) Finding {
	e := t.programs[c.Name]
	if e == nil {
		return Finding{Class: unknown, Rule: "programs/unlisted", Reason: "no table knows this program"}
	}
	j := &call{args: c.Args, shell: c.Shell, stdin: c.Stdin, sum: c.Sum, interactive: c.Interactive, identifiers: c.Identifiers, bounded: c.Bounded, direct: c.Direct, node: e.get()}
	j.run()
	return j.find
}

// Builtin says which class a form of a shell's builtin has that its table lists; "" is for every other form.
func Builtin(name string, args []Arg) policy.Class {
	e := index().programs["builtin "+name]
	if e == nil {
		return ""
	}
	for _, f := range e.get().forms {
		if f.match(args) {
			return f.class
		}
	}
	return ""
}

func (c *call) run() {
	n := c.node
	c.find = Finding{Class: read, Rule: n.rule, Env: n.env, Known: true}
	switch {
	case c.form():
	case n.style&words != 0:
		c.begin()
		c.judgeChecks()
	default:
		c.begin()
		c.parse(c.args)
		if c.interactive && n.style&pages != 0 && !c.given("--no-pager") {
			c.say(unknown, "may start a pager, and a pager can run commands that are typed into it")
		}
	}
	c.connects()
	c.find.Reads = c.node.reads
	if c.find.Reason == "" {
		c.find.Reason = c.node.name + " changes nothing"
	}
}

func (c *call) judgeChecks() {
	c.judgeRules()
	for _, check := range c.node.checks {
		check(c)
	}
}

// given says whether a word stands anywhere in the call.
func (c *call) given(s string) bool {
	return slices.ContainsFunc(c.args, func(a Arg) bool { return a.certain() && a.Text == s })
}

// begin raises to what the node is by itself. Where there are subcommands, that waits until none was given.
func (c *call) begin() {
	if c.node.subs == nil {
		c.own()
	}
}

func (c *call) own() {
	if n := c.node; n.why != "" {
		c.say(n.class, n.why)
	} else {
		c.say(n.class, phrase(n.class))
	}
}

// RulePackageInstall is the rule of findings that put software on the host. They are forbidden to agents, and dangerous for
// everyone else: callers tell them apart by this rule, per call and before calls are combined.
const RulePackageInstall = "programs/package-install"

// say makes the class at least as strict, and keeps the reason of the strictest, which begins with the program's name.
func (c *call) say(class policy.Class, why string) {
	if class == recode {
		c.find.Recodes = true
		return
	}
	worse := class == forbid && c.find.Rule == RulePackageInstall // an install may be milder, see there
	if rank(class) <= rank(c.find.Class) && !worse {
		return
	}
	if worse {
		c.find.Rule = c.node.rule
	}
	switch class {
	case installing:
		class, c.find.Rule = forbid, RulePackageInstall
	case endless:
		if c.bounded {
			return
		}
		class = unknown
	}
	c.find.Class, c.find.Reason = class, c.node.name+" "+why
}

// has says whether an option was given, by any of its names.
func (c *call) has(names ...string) bool {
	for _, name := range names {
		if slices.Contains(c.seen, c.node.lookup(name)) {
			return true
		}
	}
	return false
}

// val returns the last value of an option.
func (c *call) val(name string) (Arg, bool) {
	at := c.node.lookup(name)
	for i := len(c.vals) - 1; i >= 0; i-- {
		if c.vals[i].at == at {
			return c.vals[i].arg, true
		}
	}
	return Arg{}, false
}

// values are all values of an option.
func (c *call) values(name string) (out []Arg) {
	at := c.node.lookup(name)
	for _, v := range c.vals {
		if v.at == at {
			out = append(out, v.arg)
		}
	}
	return out
}

func (c *call) path(a Arg, wr bool) {
	c.find.Paths = append(c.find.Paths, Path{Arg: a, Write: wr})
}

func (c *call) remove(a Arg) {
	c.find.Paths = append(c.find.Paths, Path{Arg: a, Delete: true})
}

// nest reports a command that the program runs.
func (c *call) nest(argv []Arg) {
	if len(argv) == 0 {
		return
	}
	c.find.Nested = append(c.find.Nested, Nested{Argv: slices.Clip(argv)})
}

// nestRemote reports one that runs elsewhere.
func (c *call) nestRemote(argv []Arg) {
	c.find.Nested = append(c.find.Nested, Nested{Argv: slices.Clip(argv), Remote: true})
}

// script reports shell source that the program runs.
func (c *call) script(sh string, words ...Arg) {
	c.find.Nested = append(c.find.Nested, Nested{Script: words, Shell: sh})
	for _, w := range words {
		if !w.certain() {
			c.say(unknown, "runs shell source that isn't literal")
		}
	}
}

// listed says whether a space-separated list holds a word.
func listed(list, s string) bool {
	for item := range strings.FieldsSeq(list) {
		if item == s {
			return true
		}
	}
	return false
}

func word(s string) Arg { return Arg{Text: s, Literal: true, Source: s} }

// unseen is a word that only the run will tell, as xargs adds it.
func unseen(prefix, source string) Arg { return Arg{Text: prefix, Source: source} }

// certain says that the word is exactly Text.
func (a Arg) certain() bool { return a.Literal }

// dash says that the word is an option, or may become one.
func (a Arg) dash() bool {
	if a.certain() {
		return len(a.Text) > 1 && a.Text[0] == '-'
	}
	if a.Split || a.Text == "" {
		return a.Split || !a.Operand
	}
	// What a pattern grows into begins with what stands before the pattern.
	switch b := a.Text[0]; {
	case 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z', '0' <= b && b <= '9':
		return false
	case b == '/', b == '.', b == '_', b == '~', b == ',', b == '%', b == ':':
		return false
	case b == '+', b == '@', b == '=':
		return a.Glob // which may be one of ksh's patterns
	}
	return true
}

package programs

import (
	"strings"

	"github.com/fairlead-ssh/fairlead/session/policy"
)

// guess reports every tail of the call that may be a command, so that what is forbidden is seen wherever it stands.
func guess(c *call) {
	n := 0
	for i, a := range c.args {
		if !a.certain() {
			c.find.Nested = append(c.find.Nested, Nested{})
		}
		if a.certain() && !strings.HasPrefix(a.Text, "-") && n < 4 {
			n++
			c.nest(c.args[i:])
			if strings.Contains(a.Text, " ") {
				c.script("sh", a)
			}
		}
	}
}

// Inert reports whether a variable of that value changes nothing of what a program does, but how it writes.
func Inert(name, value string) bool {
	return inert(Arg{Text: name + "=" + value, Literal: true})
}

// inert are variables that change nothing but how things look.
func inert(a Arg) bool {
	name, val, _ := strings.Cut(a.Text, "=")
	switch name {
	case "CLICOLOR", "FORCE_COLOR":
		return true
	case "PAGER", "GIT_PAGER", "SYSTEMD_PAGER", "MANPAGER":
		return a.certain() && (val == "" || val == "cat")
	case "SYSTEMD_COLORS":
		return a.certain() && strings.Trim(val, "0123456789abcdefghijklmnopqrstuvwxyz") == ""
	case "DEBIAN_FRONTEND":
		return a.certain() && val == "noninteractive"
	case "TERM":
		return a.certain() && strings.Trim(val, identifier+"-.+") == ""
	}
	return a.certain() && policy.InertSetting(name, val)
}

// assignment says that a word is NAME=value.
func assignment(a Arg) bool {
	name, _, ok := strings.Cut(a.Text, "=")
	return ok && name != "" && (name[0] < '0' || name[0] > '9') && strings.Trim(name, identifier) == ""
}

func env(c *call) {
	ops := c.ops
	if split, ok := c.val("-S"); ok {
		words := make([]Arg, 0, 8)
		for s := range strings.FieldsSeq(split.Text) {
			words = append(words, word(strings.Trim(s, `"'`)))
		}
		ops = append(words, ops...)
		for len(ops) > 0 && strings.HasPrefix(ops[0].Text, "-") {
			c.say(unknown, "has options within a word")
			ops = ops[1:]
		}
	}
	for len(ops) > 0 && (assignment(ops[0]) || ops[0].certain() && ops[0].Text == "-") {
		if !inert(ops[0]) && ops[0].Text != "-" {
			c.say(unknown, "sets a variable that may change what the command does")
		}
		ops = ops[1:]
	}
	if c.has("-i") || len(c.ops) > 0 && c.ops[0].Text == "-" {
		c.say(unknown, "clears the variables that keep reads from running code")
	}
	for _, v := range c.vals {
		if v.at == c.node.lookup("-u") && v.arg.Text == "PATH" {
			// Without one, glibc before 2.24 looks in the working directory first: execvp(3).
			c.say(unknown, "unsets PATH, without which some systems look for programs in the working directory")
		}
		if v.at == c.node.lookup("-u") && (!v.arg.certain() || strings.HasPrefix(v.arg.Text, "GIT_") || strings.HasPrefix(v.arg.Text, "PYTHON")) {
			c.say(unknown, "unsets a variable that may keep reads from running code")
		}
	}
	if len(ops) == 0 {
		c.say(secret, "without a command shows the environment, which may hold secrets")
		return
	}
	c.nest(ops)
}

// XargsInput is the source of a word that xargs reads.
const XargsInput = "input of xargs"

// xargs adds what it reads to the command; with -I it puts it in.
func xargs(c *call) {
	if len(c.find.Nested) == 0 {
		return // echo
	}
	replace := ""
	if a, ok := c.val("-I"); ok {
		replace = a.Text
	} else if c.has("-i") {
		replace = "{}"
		if a, ok := c.val("-i"); ok {
			replace = a.Text
		}
	}
	identifiers := c.identifiers && !c.has("-a") && !c.has("-d") && !c.has("-0")
	argv := append(make([]Arg, 0, len(c.ops)+1), c.ops...)
	if replace == "" {
		added := Arg{Split: true, Source: XargsInput}
		if identifiers {
			added = Arg{Glob: true, Operand: true, Source: XargsInput}
		}
		argv = append(argv, added)
	} else {
		for i, a := range argv {
			before, behind, ok := strings.Cut(a.Text, replace)
			switch {
			case ok && before == "" && behind == "":
				argv[i] = unseen("", XargsInput)
				argv[i].Operand = argv[i].Operand || identifiers
			case ok:
				argv[i] = unseen(before, before+"{}"+strings.ReplaceAll(behind, replace, "{}"))
			}
		}
	}
	c.find.Nested[0].Argv, c.find.Nested[0].Listed = argv, c.has("-a")
}

// busybox's first word is the program.
func busybox(c *call) {
	if len(c.args) == 0 || c.args[0].certain() && listed("--help --list --list-full", c.args[0].Text) {
		return
	}
	if c.args[0].dash() {
		c.say(unknown, "has an option that no table lists")
	}
	c.nest(c.args)
}

// become: what comes before the command may set variables.
func become(c *call) {
	ops := c.ops
	for len(ops) > 0 && assignment(ops[0]) {
		ops = ops[1:]
	}
	c.find.Nested = nil
	c.nest(ops)
}

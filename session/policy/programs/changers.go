package programs

import "strings"

// placed looks at what cp, mv, ln and install put where, and with what mode.
func placed(c *call) {
	if a, ok := c.val("--mode"); ok {
		c.mode(a)
	}
	into, from := Arg{}, c.ops
	if a, ok := c.val("--target-directory"); ok {
		into = a
	} else if len(c.ops) > 1 {
		into, from = c.ops[len(c.ops)-1], c.ops[:len(c.ops)-1]
	}
	for _, a := range from {
		c.plants(into, a)
		if c.node.name == "mv" && a.catastrophic() {
			c.say(forbid, "moves a system directory away")
		}
	}
	if into.Text == "/dev/null" {
		c.say(danger, "replaces a device")
	}
}

// plants asks what putting a file of that name into a directory means.
func (c *call) plants(into, from Arg) {
	if into.Text == "" {
		return
	}
	name := from.Text[strings.LastIndexByte(from.Text, '/')+1:]
	if class, why := WriteClass(strings.TrimSuffix(into.Text, "/") + "/" + name); why != "" {
		c.say(class, why)
	}
}

// removal: removing trees is dangerous; removing the system is forbidden, however it is spelt.
func removal(c *call) {
	tree, dashes := false, false
	var ops []Arg
	for _, a := range c.args {
		s := a.Text
		switch {
		case dashes || !strings.HasPrefix(s, "-") || s == "-" && a.certain():
			ops = append(ops, a)
		case !a.certain():
			c.say(unknown, "has a word that isn't literal and could be an option")
			ops = append(ops, a)
		case s == "--":
			dashes = true
		case s == "--no-preserve-root":
			c.say(forbid, "is told not to spare the root directory")
		case strings.HasPrefix(s, "--"):
			tree = tree || strings.HasPrefix("--recursive", s)
			if !strings.HasPrefix("--recursive", s) && !listed("--force --verbose --interactive --one-file-system --dir --preserve-root --parents --ignore-fail-on-non-empty --help --version", s) &&
				!strings.HasPrefix(s, "--interactive=") && !strings.HasPrefix(s, "--preserve-root=") {
				c.say(unknown, "has an option that no table lists")
			}
		default:
			tree = tree || strings.ContainsAny(s, "rR")
		}
	}
	if tree {
		c.say(danger, "removes whole trees")
	}
	for _, a := range ops {
		c.remove(a)
		switch {
		case a.catastrophic():
			c.say(forbid, "removes a system directory, or all that lies in it")
		case RawDevice(a.Text):
			c.say(forbid, "removes or overwrites a device")
		}
	}
}

// mode says what a mode gives away.
func (c *call) mode(a Arg) (open bool) {
	s := a.Text
	if !a.certain() {
		c.say(unknown, "has a mode that isn't literal")
		return true
	}
	if s != "" && strings.Trim(s, "01234567") == "" {
		s = strings.TrimLeft(s, "0")
		if len(s) == 4 {
			switch {
			case s[0] >= '4':
				c.say(forbid, "plants rights: whoever runs the file takes its owner's")
			case s[0] >= '2':
				c.say(danger, "lets whoever runs the file take its group's rights")
			}
		}
		return s == "" || (s[len(s)-1]-'0')&2 != 0
	}
	for clause := range strings.SplitSeq(s, ",") {
		who, perms := clause, ""
		if i := strings.IndexAny(clause, "+=-"); i >= 0 {
			who, perms = clause[:i], clause[i:]
		}
		adds := strings.ContainsAny(perms, "+=")
		if adds && strings.Contains(perms, "s") {
			if who == "g" {
				c.say(danger, "lets whoever runs the file take its group's rights")
			} else {
				c.say(forbid, "plants rights: whoever runs the file takes its owner's")
			}
		}
		open = open || adds && strings.Contains(perms, "w") && (who == "" || strings.ContainsAny(who, "oa"))
	}
	return open
}

// changes: a new mode or owner for the file; for a whole system directory it locks everybody out, or lets them in.
func (c *call) changes(a Arg, tree, open bool) {
	c.path(a, true)
	switch {
	case !a.catastrophic():
	case tree, open, systemFile(a.Text):
		c.say(forbid, "changes who may use a system directory")
	default:
		c.say(danger, "changes who may use a system directory")
	}
}

// modes reads chmod, chown and chgrp: a mode or an owner, then files.
func modes(c *call) {
	tree, seen, open, dashes := false, false, false, false
	for _, a := range c.args {
		s := a.Text
		option := !dashes && a.certain() && len(s) > 1 && s[0] == '-'
		if c.node.name == "chmod" && option && s[1] != '-' {
			option = strings.Trim(s[1:], "Rcfv") == "" // "-x" is a mode
		}
		switch {
		case option && s == "--":
			dashes = true
		case option && s[1] == '-':
			tree = tree || strings.HasPrefix("--recursive", s)
			seen = seen || strings.HasPrefix(s, "--ref")
		case option:
			tree = tree || strings.Contains(s, "R")
		case !seen:
			seen = true
			open = c.node.name == "chmod" && c.mode(a)
		default:
			c.changes(a, tree, open)
		}
	}
}

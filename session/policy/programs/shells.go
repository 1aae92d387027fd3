package programs

import "strings"

// shellCall reads a shell's own options. With -c the first operand is source; the others are its arguments, which the
// source may run ("$@", "$0").
func shellCall(c *call) {
	args := c.args
	name := c.node.name
	inline, startFiles := false, false
	i := 0
	for ; i < len(args); i++ {
		a := args[i]
		s := a.Text
		if !a.certain() {
			if a.dash() {
				c.say(unknown, "runs source, and a word that isn't literal could be an option")
			}
			break
		}
		if s == "--" || s == "-" {
			i++
			break
		}
		if len(s) < 2 || s[0] != '-' && s[0] != '+' {
			break
		}
		if strings.HasPrefix(s, "--") {
			switch s {
			case "--norc", "--noprofile", "--posix", "--verbose", "--restricted", "--noediting", "--no-rcs", "--no-globalrcs":
			case "--login":
				startFiles = true
			case "--rcfile", "--init-file", "--rcs", "--emulate":
				startFiles = true
				i++
			default:
				c.say(unknown, "has an option that no table lists")
			}
			continue
		}
		for k, b := range []byte(s[1:]) {
			switch b {
			case 'c':
				inline = true
			case 'l', 'i':
				startFiles = true
			case 'o', 'O':
				if k != len(s)-2 {
					c.say(unknown, "has an option whose value is glued, which shells read differently")
				}
				if i++; i < len(args) && !args[i].certain() {
					c.say(unknown, "has an option that isn't literal")
				}
			case 'e', 'u', 'x', 'v', 'f', 'n', 'a':
			default:
				c.say(unknown, "has an option that no table lists")
			}
		}
	}
	if startFiles {
		c.say(unknown, "runs start files, which may change what commands mean")
	}
	if !inline || i >= len(args) {
		c.say(unknown, "runs a file, or what it reads")
		for ; i < len(args); i++ {
			c.path(args[i], false)
			break
		}
		return
	}
	source := args[i]
	c.script(shellName(name), source)
	rest := args[i+1:]
	if strings.Contains(source.Text, "$@") || strings.Contains(source.Text, "$*") || strings.Contains(source.Text, "$0") || strings.Contains(source.Text, "$1") ||
		strings.Contains(source.Text, "${") {
		if len(rest) > 0 {
			c.say(unknown, "passes words to source that may run them")
			c.nest(rest)
			c.nest(rest[1:])
		}
	}
}

// shellName is the name by which the caller knows a shell.
func shellName(name string) string {
	switch name {
	case "rbash":
		return "bash"
	case "lksh", "oksh", "pdksh":
		return "mksh"
	case "ksh93":
		return "ksh"
	case "posh", "yash":
		return "sh"
	}
	return name
}

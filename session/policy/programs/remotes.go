package programs

import "strings"

// ssh passes its operands to a shell elsewhere; some options run programs here.
func ssh(c *call) {
	args := c.args
	host := false
	for i := 0; i < len(args); i++ {
		a := args[i]
		s := a.Text
		if !host && a.certain() && len(s) > 1 && s[0] == '-' && s != "--" {
			if k := strings.IndexAny(s[1:], "BbcDEeFIiJLlmOopPQRSWw"); k >= 0 {
				v := word(s[k+2:])
				if v.Text == "" && i+1 < len(args) {
					i++
					v = args[i]
				}
				c.sshOption(s[k+1], v)
			}
			continue
		}
		if s == "--" && a.certain() {
			continue
		}
		if !host {
			host = true
			continue
		}
		c.find.Nested = append(c.find.Nested, Nested{Script: args[i:], Remote: true})
		return
	}
}

func (c *call) sshOption(b byte, v Arg) {
	switch b {
	case 'i', 'F', 'I':
		c.path(v, false)
	case 'E':
		c.path(v, true)
	case 'o':
		name, script, ok := strings.Cut(v.Text, "=")
		if !ok {
			name, script, _ = strings.Cut(v.Text, " ")
		}
		if strings.HasSuffix(strings.ToLower(strings.TrimSpace(name)), "command") {
			c.script("", word(script))
		}
	}
}

// copies: scp, rsync and their like; the last operand is written.
func copies(c *call) {
	var ops []Arg
	for i := 0; i < len(c.args); i++ {
		a := c.args[i]
		s := a.Text
		switch {
		case a.certain() && (s == "-e" || s == "--rsh" || s == "-S" || s == "--rsync-path") && i+1 < len(c.args):
			i++
			c.script("", c.args[i])
		case strings.HasPrefix(s, "--rsh="), strings.HasPrefix(s, "--rsync-path="):
			c.script("", word(s[strings.IndexByte(s, '=')+1:]))
		case a.certain() && (s == "--delete" || strings.HasPrefix(s, "--delete-") || s == "--remove-source-files"):
			c.say(danger, "removes files")
		case a.certain() && strings.HasPrefix(s, "-"):
		default:
			ops = append(ops, a)
		}
	}
	for i, a := range ops {
		if !strings.Contains(a.Text, ":") {
			c.path(a, i == len(ops)-1)
		}
		if i == len(ops)-1 && c.find.Class == danger && a.catastrophic() {
			c.say(forbid, "removes what lies under a system directory")
		}
	}
}

func sshKeygen(c *call) {
	looks := false
	for i, a := range c.args {
		if !a.certain() {
			c.say(unknown, "has a word that isn't literal")
			continue
		}
		s := a.Text
		if prev := c.args[max(i-1, 0)].Text; i > 0 && len(prev) > 1 && prev[0] == '-' && strings.IndexByte("fEF", prev[len(prev)-1]) >= 0 {
			c.path(a, false)
			continue
		}
		if len(s) < 2 || s[0] != '-' {
			c.say(write, "makes or changes keys")
			continue
		}
		for _, b := range s[1:] {
			switch b {
			case 'l', 'L', 'F':
				looks = true
			case 'f', 'E', 'v', 'q':
			case 'y', 'e':
				looks = true
				c.say(secret, "reads a private key")
			default:
				c.say(write, "makes or changes keys")
			}
		}
	}
	if !looks {
		c.say(write, "makes or changes keys")
	}
}

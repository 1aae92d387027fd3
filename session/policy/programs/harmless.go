package programs

import "strconv"

// sleeping: a wait of up to a minute is part of looking; a longer one holds the session.
func sleeping(c *call) {
	total := 0.0
	for _, a := range c.ops {
		s, unit := a.Text, 1.0
		if !a.certain() || s == "" {
			c.say(unknown, "may take long")
			return
		}
		switch s[len(s)-1] {
		case 's':
			s = s[:len(s)-1]
		case 'm':
			s, unit = s[:len(s)-1], 60
		case 'h', 'd':
			c.say(unknown, "may take long")
			return
		}
		n, err := strconv.ParseFloat(s, 64)
		if err != nil || !(n >= 0 && n < 1e6) {
			c.say(unknown, "may take long")
			return
		}
		total += n * unit
	}
	if total > 60 {
		c.say(unknown, "may take long")
	}
}

// tput: some capabilities make a terminal or printer run what it is told.
func tput(c *call) {
	for _, a := range c.ops {
		if !a.certain() {
			c.say(unknown, "has a capability that isn't literal")
			return
		}
	}
	if len(c.ops) > 0 && listed("init reset rs1 rs2 rs3 is1 is2 is3 iprog if rf", c.ops[0].Text) {
		c.say(write, "may run a program that sets up the terminal")
	}
}

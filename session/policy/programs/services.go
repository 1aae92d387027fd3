package programs

// service runs a service's own script with what it is told; "status" is for looking.
func service(c *call) {
	n := len(c.args)
	switch {
	case n == 1 && c.args[0].certain() && listed("--status-all --version --help -h --list -l", c.args[0].Text):
	case n == 2 && c.args[1].certain() && c.args[1].Text == "status" && !c.args[0].dash():
	case n == 2 && c.args[1].certain() && listed("stop restart force-reload", c.args[1].Text):
		c.say(danger, "stops or restarts a service")
	default:
		c.say(write, "changes a service")
	}
}

// listOnly makes a check for programs that look where every word is one of these.
func listOnly(words string) func(*call) {
	return func(c *call) {
		for i, a := range c.args {
			if !a.certain() || !listed(words, a.Text) && (i == 0 || a.dash()) {
				c.say(write, "does more than list")
			}
		}
	}
}

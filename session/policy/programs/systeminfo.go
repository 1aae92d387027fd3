package programs

import "strings"

// date: the only operand that shows the time begins with "+"; any other sets the clock.
func date(c *call) {
	for _, a := range c.ops {
		if !strings.HasPrefix(a.Text, "+") {
			c.say(write, "with such an operand sets the clock")
		}
	}
}

func dmesg(c *call) {
	if c.has("-H") && !c.has("-P") && c.interactive {
		c.say(unknown, "starts a pager")
	}
}

func sysctl(c *call) {
	for _, a := range c.ops {
		if strings.Contains(a.Text, "=") || !a.certain() {
			c.say(write, "may change a setting of the kernel")
			if name, value, _ := strings.Cut(a.Text, "="); listed("kernel.core_pattern kernel/core_pattern", name) && strings.Contains(value, "|") ||
				listed("kernel.modprobe kernel/modprobe kernel.hotplug", name) {
				c.say(forbid, "makes the kernel run a program as root")
			}
		}
	}
}

func getent(c *call) {
	if len(c.ops) == 0 {
		return
	}
	switch a := c.ops[0]; {
	case !a.certain():
		c.say(unknown, "needs a literal database")
	case a.Text == "shadow" || a.Text == "gshadow":
		c.say(secret, "shows password hashes")
	case strings.HasPrefix(a.Text, "ahosts"), a.Text == "hosts" && len(c.ops) > 1, a.Text == "networks" && len(c.ops) > 1:
		c.say(write, "asks a name server")
	}
}

func numactl(c *call) {
	for i, a := range c.args {
		switch s := a.Text; {
		case a.certain() && listed("-H --hardware -s --show --help --version", s):
		case a.certain() && strings.HasPrefix(s, "-") && i == 0 && len(c.args) > 1:
			c.nest(c.args[1:])
			fallthrough
		default:
			c.say(unknown, "runs a command, or changes where memory comes from")
			return
		}
	}
}

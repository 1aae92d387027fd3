package programs

import "strings"

// installs marks the finding where one of the options was given.
func installs(c *call, opts ...string) {
	if c.has(opts...) {
		c.find.Rule = RulePackageInstall
	}
}

// rpm: -i is "info" in a query and "install" without one; -F, -U and -e are what they are only without one.
func rpm(c *call) {
	for _, a := range c.ops {
		if strings.Contains(a.Text, "://") {
			c.say(write, "opens network connections")
		}
	}
	query := c.has("-q", "-V", "-K", "--showrc", "--checksig")
	if c.has("-i") && !query {
		c.say(forbid, "installs packages")
	}
	if !query {
		installs(c, "-i", "-U", "-F", "--install", "--reinstall", "--import")
		if c.find.Class == read && len(c.ops) > 0 {
			c.say(unknown, "has no action that a table lists")
		}
	}
}

// fetches: without the option, or a first word that needs none, the lists may be fetched anew first.
func fetches(c *call, option, without string) {
	verb := c.node.name[strings.LastIndexByte(c.node.name, ' ')+1:]
	if c.has(option) || c.has("--installed") || listed(without, verb) || len(c.ops) > 0 && c.ops[0].certain() && c.ops[0].Text == "installed" {
		return
	}
	c.say(write, "may fetch lists from the network, but for "+option)
}

// looser makes a check for package managers of which only the words that look are known.
func looser(looking string) func(*call) {
	return func(c *call) {
		if len(c.args) > 0 && c.args[0].certain() && listed(looking, c.args[0].Text) {
			for _, a := range c.args[1:] {
				if a.dash() {
					c.find.Class, c.find.Reason = unknown, c.node.name+" has an option that no table lists"
					return
				}
			}
			c.find.Class, c.find.Reason = read, c.node.name+" changes nothing"
			return
		}
		c.find.Rule = RulePackageInstall
	}
}

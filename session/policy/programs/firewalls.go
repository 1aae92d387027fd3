package programs

import "strings"

func iptables(c *call) {
	if !c.has("-L", "-S", "-V", "-h", "--version", "--help", "-C") {
		c.say(danger, "changes the firewall")
	}
}

func nft(c *call) {
	i := 0
	for i < len(c.args) && c.args[i].certain() && strings.HasPrefix(c.args[i].Text, "-") {
		if !listed("-a --handle -n --numeric -nn -j --json -s --stateless -y -S --service -u --guid -p -T -N --reversedns -t --terse -v -V --version -h --help -nnn -an -na", c.args[i].Text) {
			c.say(danger, "may change the firewall")
		}
		i++
	}
	rest := c.args[i:]
	switch {
	case len(rest) == 0 && i > 0:
	case len(rest) == 0 || !rest[0].certain():
		c.say(unknown, "has no command that is known")
	case rest[0].Text == "list":
		for _, a := range rest {
			if !a.certain() || strings.ContainsAny(a.Text, ";\n{") {
				c.say(danger, "may change the firewall")
			}
		}
	default:
		// The command may come in one word.
		words := strings.Fields(rest[0].Text)
		if len(rest) == 1 && len(words) > 1 && words[0] == "list" && !strings.ContainsAny(rest[0].Text, ";\n{") {
			return
		}
		c.say(danger, "changes the firewall")
	}
}

func ufw(c *call) {
	if len(c.args) == 0 || !c.args[0].certain() {
		return
	}
	switch a := c.args[0].Text; {
	case a == "status" && (len(c.args) == 1 || c.args[1].certain() && listed("verbose numbered", c.args[1].Text)), a == "version", a == "--version",
		a == "app" && len(c.args) > 1 && listed("list info", c.args[1].Text), a == "show" && len(c.args) == 2:
		c.find.Class, c.find.Reason = read, c.node.name+" changes nothing"
	}
}

func firewallCmd(c *call) {
	for _, a := range c.args {
		name, _, _ := strings.Cut(a.Text, "=")
		switch {
		case !a.certain():
			c.say(danger, "may change the firewall")
		case listed("--state --version --zone --permanent --direct -q --quiet -h --help --policy --ipset --service --icmptype --helper --verbose -v --check-config --name", name),
			strings.HasPrefix(name, "--list-"), strings.HasPrefix(name, "--get-"), strings.HasPrefix(name, "--info-"), strings.HasPrefix(name, "--query-"):
		case !strings.HasPrefix(name, "-"):
		default:
			c.say(danger, "changes the firewall")
		}
	}
}

package programs

import "strings"

const iptablesOptions = `
	-L,--list?text -S,--list-rules?text -n,--numeric -v,--verbose -x,--exact --line-numbers -t,--table=text -w,--wait?text -4,--ipv4 -6,--ipv6 -V -h
	-C,--check=text!ask -A,--append!danger -I,--insert!danger -D,--delete!danger -R,--replace!danger -F,--flush!danger -Z,--zero!danger -N,--new-chain!danger
	-X,--delete-chain!danger -P,--policy!danger -E,--rename-chain!danger -M,--modprobe=cmd -c,--set-counters!danger`

// firewalls are listed; a changed rule may lock everybody out.
var firewalls = []program{
	{name: "iptables|ip6tables|iptables-nft|iptables-legacy|ip6tables-nft|ip6tables-legacy|ebtables|arptables", args: "text...", style: exact, check: iptables, opts: iptablesOptions},
	{name: "iptables-save|ip6tables-save|iptables-nft-save|iptables-legacy-save|ebtables-save", opts: `-c,--counters -t,--table=text -f,--file=write -M,--modprobe=cmd -V`},
	{name: "iptables-restore|ip6tables-restore|iptables-apply|netfilter-persistent|ebtables-restore|shorewall|csf|apf|pfctl|ipfw", class: danger, why: "changes the firewall", args: "text...", alone: "--version"},
	{name: "nft", raw: true, check: nft},
	{name: "ufw", class: danger, why: "changes the firewall", raw: true, check: ufw},
	{name: "firewall-cmd", raw: true, check: firewallCmd},
}

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
		c.find.Class, c.find.Reason = read, c.node.readReason
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

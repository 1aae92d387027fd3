package programs

import "strings"

// ssFilter: a word of a filter that is no keyword, address or port is a name, and asked of a name server (ss(8), HOST
// SYNTAX).
func ssFilter(c *call) {
	before := ""
	for _, a := range c.ops {
		for s := range strings.FieldsSeq(a.Text) {
			s = strings.Trim(s, "()")
			switch {
			case s == "" || s[0] == ':' || listed(ssWords, s) || strings.Trim(s, "0123456789abcdefABCDEF.:/*[]%") == "":
			case listed("dst src", before):
				c.say(write, "asks a name server")
			default:
				c.say(unknown, "may look up a name")
			}
			before = s
		}
	}
}

// client is a program of the network. The files that it sends, writes or takes its options from are named where they
// are plain.
func client(c *call) {
	for i, a := range c.args {
		s := a.Text
		next := func() Arg {
			if i+1 < len(c.args) {
				return c.args[i+1]
			}
			return Arg{}
		}
		switch {
		case !a.certain():
			c.say(unknown, "has a word that isn't literal")
		case s == "-o", s == "-O" && c.node.name != "curl", s == "--output", s == "--output-document":
			c.path(next(), true)
		case s == "-K", s == "--config", s == "-f" && c.node.name == "dig", s == "-i" && strings.HasPrefix(c.node.name, "wget"),
			strings.HasPrefix(s, "--config"), strings.HasPrefix(s, "--use-askpass"), strings.HasPrefix(s, "-K"):
			c.path(next(), false)
			c.say(unknown, "takes options from a file")
		case strings.HasPrefix(s, "@"):
			c.path(Arg{Text: s[1:], Literal: true, Source: s}, false)
		case strings.HasPrefix(s, "-T") && c.node.name == "curl", s == "--upload-file", s == "--post-file", s == "--body-file":
			c.path(next(), false)
		}
		if _, file, ok := strings.Cut(s, "=@"); ok {
			c.path(word(file), false)
		}
		if file, ok := strings.CutPrefix(s, "file://"); ok {
			c.path(word(strings.TrimPrefix(file, "localhost")), false)
		}
		if _, file, ok := strings.Cut(s, "--post-file="); ok {
			c.path(word(file), false)
		}
	}
}

func netcat(c *call) {
	for i, a := range c.args {
		s := a.Text
		long := strings.HasPrefix(s, "--")
		switch {
		case !a.certain():
			c.say(unknown, "has a word that isn't literal")
		case long && (strings.HasPrefix(s, "--e") || strings.HasPrefix(s, "--sh") || strings.HasPrefix(s, "--lua")),
			!long && len(s) > 1 && s[0] == '-' && strings.ContainsAny(clusterHead(s), "ec"):
			c.say(forbid, "gives a shell to whoever is on the other side")
			if i+1 < len(c.args) {
				c.script("", c.args[i+1])
			}
		}
	}
}

// clusterHead is what of a cluster can be option letters: up to the first that takes a value.
func clusterHead(s string) string {
	if i := strings.IndexAny(s, "piswXxqTVMmgGO"); i > 0 {
		return s[:i]
	}
	return s
}

func socat(c *call) {
	for _, a := range c.args {
		s := strings.ToUpper(a.Text)
		switch {
		case strings.Contains(s, "EXEC:"), strings.Contains(s, "SYSTEM:"), strings.Contains(s, "SHELL:"):
			c.say(forbid, "gives a shell to whoever is on the other side")
		case !a.certain():
			c.say(unknown, "has a word that isn't literal")
		}
	}
}

// ip reads options, an object, then what to do with it. Objects and actions may be shortened, and "s" may be set: only
// the spellings below look.
func ip(c *call) {
	i := 0
	for ; i < len(c.args); i++ {
		a := c.args[i]
		if !a.certain() {
			c.say(unknown, "needs literal words")
			return
		}
		s := strings.TrimPrefix(a.Text, "-")
		if s == a.Text {
			break
		}
		switch s = strings.TrimPrefix(s, "-"); {
		case listed("4 6 0 B M s stats statistics d details o oneline br brief c color j json p pretty t timestamp ts tshort h human human-readable iec N Numeric V Version h help echo", s),
			strings.HasPrefix(s, "color="), strings.HasPrefix(s, "c="):
		case listed("f family l loops rc rcvbuf", s):
			i++
		default:
			c.say(unknown, "has an option that no table lists, or that runs or reads more")
			if s == "n" || s == "netns" {
				i++
			}
		}
	}
	if i >= len(c.args) {
		return
	}
	object, rest := c.args[i].Text, c.args[i+1:]
	action := ""
	if len(rest) > 0 {
		action = rest[0].Text
		if !rest[0].certain() {
			c.say(unknown, "needs a literal action")
			return
		}
	}
	shows := listed("show sh list ls lst", action) || action == ""
	switch {
	case object == "help" || action == "help":
	case object == "netns" && action == "exec", object == "vrf" && action == "exec":
		if len(rest) > 2 {
			c.nest(rest[2:])
		}
		c.say(unknown, "runs a command in another network")
	case listed("a addr address l link r ro route ru rule n ne neigh neighbor neighbour m maddr maddress mr mroute tunnel tuntap netns vrf netconf ntable addrlabel nexthop tcp_metrics token fdb vlan mdb dev stats", object):
		switch {
		case shows, listed("r ro route", object) && (action == "get" || action == "g"), object == "netns" && (action == "identify" || action == "pids"):
		case strings.HasPrefix("delete", action), strings.HasPrefix("flush", action), action == "change", action == "set", strings.HasPrefix("replace", action):
			c.say(danger, "changes the network")
		default:
			c.say(write, "changes the network, or may")
		}
	case object == "xfrm":
		c.say(secret, "may show keys")
		if action = ""; len(rest) > 1 {
			action = rest[1].Text
		}
		if !listed("show list ls", action) && action != "" {
			c.say(danger, "changes the network")
		}
	default:
		c.say(unknown, "has an object that no table lists")
	}
}

// tc looks where the action is show or missing.
func tc(c *call) {
	i := 0
	for i < len(c.args) && c.args[i].certain() && listed("-s -statistics -stats -d -details -r -raw -p -pretty -i -iec -g -graph -j -json -c -color -o -oneline", c.args[i].Text) {
		i++
	}
	switch rest := c.args[i:]; {
	case len(rest) == 0:
	case rest[0].certain() && listed("qdisc class filter action chain", rest[0].Text) && (len(rest) == 1 || rest[1].certain() && listed("show list ls", rest[1].Text)):
	default:
		c.say(danger, "changes the network")
	}
}

func iw(c *call) {
	last := ""
	for _, a := range c.args {
		if !a.certain() || listed("set add del connect disconnect join leave auth scan trigger", a.Text) {
			c.say(danger, "changes the network")
		}
		last = a.Text
	}
	if !listed("dev list phy info link dump get features commands reg", last) && last != "" {
		c.say(unknown, "has words that no table lists")
	}
}

func ethtool(c *call) {
	for i, a := range c.args {
		looks := a.certain() && listed("-a --show-pause -c --show-coalesce -g --show-ring -k --show-features --show-offload -i --driver -S --statistics -n -u --show-nfc --show-ntuple -P --show-permaddr -l --show-channels -T --show-time-stamping -x --show-rxfh-indir --show-rxfh -m --dump-module-eeprom --module-info --show-priv-flags --show-eee --show-fec --phy-statistics -h --help --version --json -j", a.Text)
		if i == 0 && (looks || !a.dash()) || i == 1 && len(c.args) == 2 && !a.dash() {
			continue
		}
		if !looks {
			c.say(unknown, "may change an interface")
		}
	}
}

// nmcli's words may be shortened; only the full and the usual short ones are known.
func nmcli(c *call) {
	words := make([]string, 0, 8)
	for _, a := range c.ops {
		if !a.certain() {
			c.say(unknown, "needs literal words")
			return
		}
		words = append(words, a.Text)
	}
	if len(words) == 0 {
		return
	}
	action := ""
	if len(words) > 1 {
		action = words[1]
	}
	switch words[0] {
	case "general", "g", "gen":
		if action == "" || action == "status" || action == "permissions" || action == "hostname" && len(words) == 2 {
			return
		}
	case "device", "dev", "d", "connection", "con", "c":
		if action == "" || action == "status" || action == "show" {
			return
		}
	case "networking", "radio", "n", "r":
		if action == "" || action == "connectivity" && len(words) == 2 {
			return
		}
	}
	c.say(danger, "may change the network")
}

// ssWords are the keywords of ss's filters and its states.
const ssWords = "state exclude dst src sport dport dev fwmark cgroup autobound and or not & | && || ! = == != eq ne neq ge geq le leq gt lt > < >= <= " +
	"established syn-sent syn-recv fin-wait-1 fin-wait-2 time-wait closed close-wait last-ack listening listen closing all connected synchronized bucket big bound-inactive"

package programs

import (
	"net/netip"
	"slices"
	"strings"
	"unicode"
)

// Host returns the host that a word names: an IP address in its usual form, or a name in lower case. It is "" for whatever
// programs read in more ways than one: 127.1, 0x7f000001, a name with a dot at its end, an IPv4 address within an IPv6 one.
func Host(s string) string {
	if a, err := netip.ParseAddr(s); err == nil {
		if a.Is4In6() || a.Zone() != "" || a.IsUnspecified() {
			return ""
		}
		return a.String()
	}
	if !hostName(s) {
		return ""
	}
	return strings.ToLower(s)
}

// hostName knows names that every resolver takes for a name: of a last label without a letter in front, some make a number.
func hostName(s string) bool {
	if len(s) > 253 {
		return false
	}
	last := ""
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || strings.Trim(label, identifier+"-") != "" {
			return false
		}
		last = label
	}
	return unicode.IsLetter(rune(last[0]))
}

// urlHost returns the host that a URL leads to, "" where clients may differ about it, and whether it is surely a URL of the web.
func urlHost(s string) (host string, web bool) {
	scheme, rest, named := strings.Cut(s, "://")
	if !named {
		rest = s
		switch before, _, _ := strings.Cut(strings.ToLower(s), "."); before {
		case "ftp", "dict", "ldap", "imap", "smtp", "pop3": // what curl takes for the protocol
			return "", false
		}
	} else if scheme = strings.ToLower(scheme); scheme != "http" && scheme != "https" {
		return "", false
	}
	end := strings.IndexByte(rest, '/')
	if end < 0 {
		end = len(rest)
	}
	host, port, ported := strings.Cut(rest[:end], ":")
	if inner, ok := strings.CutPrefix(rest[:end], "["); ok {
		var after string
		if inner, after, ok = strings.Cut(inner, "]"); !ok || !strings.Contains(inner, ":") {
			return "", named
		}
		host = inner
		if after, port, ported = strings.Cut(after, ":"); after != "" {
			return "", named
		}
	}
	if host = Host(host); host == "" || ported && (port == "" || len(port) > 5 || strings.Trim(port, digits) != "") {
		return "", named
	}
	for _, b := range []byte(rest[end:]) {
		if b <= ' ' || b >= 0x7f || strings.IndexByte(`{}[]\`, b) >= 0 { // of some, curl makes several URLs
			return "", true
		}
	}
	return host, true
}

// reach notes where a call connects to.
func (c *call) reach(host string) { c.find.To = append(c.find.To, host) }

// reachHost notes a host that a word names.
func (c *call) reachHost(a Arg) {
	if !a.certain() {
		c.reach("")
		return
	}
	c.reach(Host(a.Text))
}

// reachURL notes the host of a URL.
func (c *call) reachURL(a Arg) {
	host, web := urlHost(a.Text)
	if !a.certain() {
		host, web = "", true
	}
	c.reach(host)
	if !web {
		c.say(write, "with a URL that is not plainly one of the web opens a connection of another kind")
	}
}

// connects looks at a call that asks something over the network as a whole. Only of one that does no more, it is certain that all
// addresses are known.
func (c *call) connects() {
	if c.find.Class == network {
		for _, a := range c.args {
			switch {
			case !a.certain():
				c.say(unknown, "sends a word that is known only when it runs")
			case strings.ContainsFunc(a.Text, func(r rune) bool { return r < ' ' || r == 0x7f }):
				c.say(write, "sends control characters, which may make another request of it")
			}
		}
	}
	if rank(c.find.Class) < rank(network) {
		c.find.To = nil // this machine's own service
	}
	sure := c.find.Class == network && len(c.find.To) > 0
	if !sure && rank(c.find.Class) >= rank(network) && (len(c.find.To) > 0 || c.find.Class == network || c.node.style&connecting != 0) {
		c.reach("")
	}
}

// curl: its settings may name files to write and data to send. Redirects lead anywhere.
func curl(c *call) {
	if !c.direct && !(len(c.args) > 0 && c.args[0].certain() && (strings.HasPrefix(c.args[0].Text, "-q") || c.args[0].Text == "--disable")) {
		c.say(write, "reads settings from ~/.curlrc, which may name files to write; -q as the first option keeps it from that")
	}
	if c.has("-L") {
		c.reach("")
	}
}

// wget follows redirects by itself.
func wget(c *call) {
	if !c.direct && !(c.has("--no-config") && c.has("--no-hsts")) {
		c.say(write, "reads settings from ~/.wgetrc, and writes ~/.wget-hsts; --no-config and --no-hsts keep it from that")
	}
	if a, ok := c.val("--max-redirect"); !ok || a.Text != "0" {
		c.reach("")
	}
}

// digWords are types and classes of records, and what changes how dig asks and prints.
const digWords = "a aaaa any caa cname dnskey ds https mx naptr ns ptr soa srv svcb tlsa txt in ch " +
	"+short +noshort +all +noall +answer +noanswer +cmd +nocmd +comments +nocomments +question +noquestion +stats +nostats +authority +noauthority " +
	"+additional +noadditional +ttlid +nottlid +multiline +tcp +notcp +vc +recurse +norecurse +rec +norec +dnssec +nodnssec +cd +cdflag +edns +noedns +identify"

// dig asks a server for a name. Who answers for the name gets to know it from there, and counts as reached too.
func dig(c *call) {
	if !c.direct && !c.has("-r") {
		c.say(write, "reads settings from ~/.digrc, which may name files to read; -r keeps it from that")
	}
	for _, a := range c.ops {
		s := strings.ToLower(a.Text)
		server, at := strings.CutPrefix(a.Text, "@")
		name, value, _ := strings.Cut(s, "=")
		switch {
		case !a.certain():
			c.reach("")
		case at:
			c.reach(Host(server))
		case listed(digWords, s):
		case listed("+time +timeout +tries +retry", name) && len(value) == 1 && strings.Trim(value, digits) == "":
		case s[:min(1, len(s))] == "+":
			c.say(write, "has an option that no table lists")
		default:
			c.reach(Host(a.Text))
		}
	}
}

// getent asks name servers where it looks for hosts.
func getent(c *call) {
	for i, a := range c.ops {
		if i > 0 { // behind the name of the database
			c.reachHost(a)
		}
	}
}

// Connects reports whether calls of a program may be of the class [policy.NetworkRead].
func Connects(name string) bool {
	e := index().programs[name]
	return e != nil && e.get().connects()
}

func (n *node) connects() bool {
	for _, s := range n.subs {
		if s.get().connects() {
			return true
		}
	}
	return n.class == network || slices.ContainsFunc(n.rules, func(r rule) bool { return r.class == network })
}

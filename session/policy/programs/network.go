package programs

import "strings"

// network: the machine's own sockets, addresses and routes are looked at; whatever opens a connection is never a read.
var network = []program{
	{name: "ss", args: "text...", check: ssFilter, calm: true, opts: `
		-h,--help -V,--version -Q,--no-queues -n,--numeric -r,--resolve!ask -a,--all -l,--listening -B,--bound-inactive
		-o,--options -e,--extended -m,--memory -p,--processes -T,--threads -i,--info --tos --cgroup -s,--summary -b,--bpf
		-E,--events!ask -Z,--context -z,--contexts -N,--net=text!unknown -4,--ipv4 -6,--ipv6 -0,--packet -t,--tcp -M,--mptcp
		-S,--sctp -u,--udp -d,--dccp -w,--raw -x,--unix --tipc --vsock --xdp --inet-sockopt -f,--family=text -A,--query,--socket=text
		-K,--kill!danger -H,--no-header -O,--oneline -D,--diag=write -F,--filter=read`},
	{name: "netstat", args: "text...", opts: `
		-r,--route -i,--interfaces -g,--groups -s,--statistics -M,--masquerade -v,--verbose -W,--wide -n,--numeric --numeric-hosts
		--numeric-ports --numeric-users -N,--symbolic -e,--extend -p,--programs -o,--timers -c,--continuous!ask -l,--listening
		-a,--all -F,--fib -C,--cache -Z,--context -t,--tcp -S,--sctp -u,--udp -U,--udplite -w,--raw -x,--unix --ax25 --ipx
		--netrom -4,--inet -6,--inet6 -A,--protocol=text -V -f,--l2cap -2,--rfcomm -T,--notrim`},
	{name: "ip", raw: true, check: ip},
	{name: "bridge", raw: true, check: ip},
	{name: "tc", raw: true, check: tc},
	{name: "ifconfig", raw: true, check: func(c *call) {
		for i, a := range c.args {
			if !a.certain() || i > 0 && !strings.HasPrefix(c.args[i-1].Text, "-") || strings.HasPrefix(a.Text, "-") && !listed("-a -s -v", a.Text) {
				c.say(danger, "with such operands changes an interface")
			}
		}
	}},
	{name: "iwconfig", args: "text", opts: `--version --help`},
	{name: "iw", args: "text...", raw: true, check: iw},
	{name: "arp", args: "text", opts: `
		-a -e -v,--verbose -n,--numeric -H,--hw-type=text -t=text -i,--device=text -A,-p,--protocol=text -D,--use-device!write
		-d,--delete!danger -s,--set!write -f,--file?read!write -N,--symbolic -V`},
	{name: "route", args: "text!danger...", opts: `-n,--numeric -e,--extend -v,--verbose -F,--fib -C,--cache -4 -6 -A=text -V -ee`},
	{name: "ethtool", raw: true, check: ethtool},
	{name: "mii-tool", args: "text...", opts: `-v,--verbose -V -w,--watch!ask -l,--log!ask -r,--restart!danger -R,--reset!danger -F,--force=text!danger -A,--advertise=text!danger -p,--phy=text`},
	{name: "conntrack", args: "text...", opts: `
		-L,--dump -C,--count -S,--stats -G,--get!ask -E,--event!ask -D,--delete!danger -F,--flush!danger -I,--create!write -U,--update!write
		-A,--add!write -R,--load-file=read!write -z,--zero!write -p,--proto=text -s,--src=text -d,--dst=text -f,--family=text -n,--src-nat -g,--dst-nat
		-o,--output=text --orig-port-src=text --orig-port-dst=text --sport=text --dport=text --state=text -m,--mark=text`},
	{name: "brctl", args: "text...", check: verbs("show showmacs showstp")},
	{name: "nmcli", style: exact, args: "text...", check: nmcli, env: "PAGER", opts: `
		-a,--ask!unknown -c,--colors=text -e,--escape=text -f,--fields=text -g,--get-values=text -m,--mode=text
		-o,--overview -p,--pretty -s,--show-secrets!secret -t,--terse -w,--wait=text`},
	{name: "networkctl", style: inherit | pages, env: "SYSTEMD_*", opts: `--no-pager --no-legend -a,--all -s,--stats -l,--full -n,--lines=text --json=text --no-ask-password`,
		sub: []program{{name: "list|status|lldp|cat", args: "text..."}}},
	{name: "resolvectl|systemd-resolve", style: inherit | pages, opts: `--no-pager --no-legend -i,--interface=text -p,--protocol=text --status --statistics`,
		sub: []program{
			{name: "status|statistics|dns|domain|default-route|llmnr|mdns|dnssec|nta|show-cache", args: "text", style: inherit},
			{name: "query|service|openpgp|tlsa", class: write, why: "asks a name server", args: "text..."},
		}},
	{name: "wg", raw: true, check: func(c *call) {
		switch n := len(c.args); {
		case n == 0, n <= 2 && c.args[0].certain() && c.args[0].Text == "show" && (n == 1 || c.args[1].certain() && !listed("dump private-key", c.args[1].Text)):
		case c.args[0].Text == "show" || c.args[0].Text == "showconf":
			c.say(secret, "may show private keys")
		default:
			c.say(danger, "changes a tunnel, or makes keys")
		}
	}},
	{name: "lldpcli|lldpctl", args: "text...", check: verbs("show"), opts: `-f=text`},
	{name: "ipcalc|sipcalc", args: "text...", opts: `-b -n -c -s -m -p -4 -6 --json`},
	{name: "ipset", raw: true, check: listOnly("list -L --list save -S -n -name -t -terse")},
	{name: "tcpdump|tshark|dumpcap|ngrep|snoop", class: unknown, why: "listens until stopped, and can write files and run programs", args: "text...", alone: "--version -D --list-interfaces"},
	{name: "ping|ping6|fping|hping3|arping|traceroute|traceroute6|tracepath|mtr|dig|host|nslookup|drill|delv|kdig|whois|nmap|masscan|zmap|iperf|iperf3|rpcinfo|showmount|snmpwalk|snmpget|snmpset|ldapsearch|smbclient|rpcclient|nbtscan|avahi-browse|avahi-resolve|kinit|speedtest|speedtest-cli|swaks|ntpdig|grpcurl|websocat|wscat|mosquitto_pub|mosquitto_sub|hey|ab|wrk|siege|testssl|sslscan|nikto|httpstat",
		raw: true, class: write, check: client, why: "opens network connections", alone: "--version -V -h --help"},
	{name: "curl|wget|wget2|http|https|httpie|xh|aria2c|axel|finger|lynx|links|elinks|w3m|ftp|lftp|ncftp|tftp|telnet|gopher|yt-dlp",
		raw: true, class: write, check: client, why: "opens network connections", env: "*_proxy *_PROXY CURL_HOME HOME NETRC SSLKEYLOGFILE WGETRC", alone: "--version -V --help"},
	{name: "nc|ncat|netcat|nc.openbsd|nc.traditional|pnc|sbd|powercat", raw: true, class: write, why: "opens network connections", check: netcat, alone: "--version -h --help"},
	{name: "socat", raw: true, class: write, why: "opens network connections", check: socat, alone: "-V -h"},
	{name: "dhclient|dhcpcd|ifup|ifdown|wpa_supplicant|wpa_cli|wg-quick|openvpn|pppd|tailscaled|networkd-dispatcher", class: danger, why: "changes the network", args: "text...", alone: "--version"},
	{name: "tailscale", style: exact, sub: []program{
		{name: "status", opts: `--json --peers --active --self --web!unknown`},
		{name: "ip", args: "text", opts: `-4 -6 -1`}, {name: "version"},
	}},
}

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

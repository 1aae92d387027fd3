package programs

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// ssWords are the keywords of ss's filters and its states.
const ssWords = "state exclude dst src sport dport dev fwmark cgroup autobound and or not & | && || ! = == != eq ne neq ge geq le leq gt lt > < >= <= " +
	"established syn-sent syn-recv fin-wait-1 fin-wait-2 time-wait closed close-wait last-ack listening listen closing all connected synchronized bucket big bound-inactive"

// ssFilter: a word of a filter that is no keyword, address or port is a name, and asked of a name server (ss(8), HOST
// SYNTAX).
func ssFilter(c *call) {
	for _, a := range c.ops {
		for s := range strings.FieldsSeq(a.Text) {
			s = strings.Trim(s, "()")
			switch {
			case s == "" || s[0] == ':' || listed(ssWords, s) || ssAddress(s):
			default:
				c.say(unknown, "may query a name server")
			}
		}
	}
}

// ssAddress reports whether a word is an address or a number, which is not looked up.
func ssAddress(s string) bool {
	host, port := s, ""
	if i := strings.LastIndexByte(s, ':'); i >= 0 && (strings.Count(s, ":") == 1 || s[0] == '[') {
		host, port = s[:i], s[i+1:]
	}
	host, bits, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"), "/")
	if strings.Trim(bits, digits) != "" || port != "*" && strings.Trim(port, digits) != "" {
		return false
	}
	if strings.IndexByte(host, ':') < 0 { // 10.1 is 10.1.0.0 to ss
		parts := strings.Split(host, ".")
		return host == "*" || len(parts) <= 4 && !slices.ContainsFunc(parts, func(p string) bool {
			n, err := strconv.ParseUint(p, 10, 16)
			return err != nil || len(parts) > 1 && n > 255
		})
	}
	_, err := netip.ParseAddr(host)
	return err == nil
}

// netcat looks for options that start a program. Behind the letters of which every netcat takes the next word for the value there is
// none, but an option that is not known may take one of them for its own value.
func netcat(c *call) {
	sure := true
	for i := 0; i < len(c.args); i++ {
		a := c.args[i]
		s := a.Text
		long := strings.HasPrefix(s, "--")
		switch {
		case !a.certain():
			c.say(unknown, "has a word that isn't literal")
		case long && (strings.HasPrefix(s, "--e") || strings.HasPrefix(s, "--sh") || strings.HasPrefix(s, "--lua")),
			!long && strings.HasPrefix(s, "-") && strings.ContainsAny(clusterHead(s), "ec"):
			c.say(forbid, "gives a shell to the other side")
			if i+1 < len(c.args) {
				c.script("", c.args[i+1])
			}
		case len(s) < 2 || s[0] != '-' || strings.Trim(s[1:], "46nuvz") == "":
		case sure && strings.Trim(s[1:len(s)-1], "46nuvz") == "" && strings.IndexByte("ipsw", s[len(s)-1]) >= 0:
			if i++; i < len(c.args) && !c.args[i].certain() {
				c.say(unknown, "has a word that isn't literal")
			}
		default:
			sure = false
		}
	}
}

// clusterHead is what of a cluster can be option letters: up to the first that takes a value.
func clusterHead(s string) string {
	const valued = "piswXxqTVMmgGO"
	return s[:strings.IndexAny(s+valued, valued)]
}

// ssh passes its operands to a shell elsewhere; some options run programs here.
func ssh(c *call) {
	args := c.args
	host := false
	for i := 0; i < len(args); i++ {
		a := args[i]
		s := a.Text
		if !host && a.certain() && a.dash() {
			i += c.lettered(args[i:], "BbcDEeFIiJLlmOopPQRSWw", c.sshOption)
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

// lettered reads a cluster up to the first letter that takes a value, glued to it or in the next word, and hands both on. It
// returns how many words beside the cluster that took.
func (c *call) lettered(args []Arg, valued string, set func(b byte, v Arg)) (used int) {
	letters := args[0].Text[1:]
	at := strings.IndexAny(letters, valued)
	if at < 0 {
		return 0
	}
	v := word(letters[at+1:])
	if v.Text == "" && len(args) > 1 {
		v, used = args[1], 1
	}
	set(letters[at], v)
	return used
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

// copyLetters are the letters of options that take a value.
var copyLetters = map[string]string{"scp": "DFJMPSXciLlo", "sftp": "BDFJLPRSXbcilos", "rsync": "BMTef@"}

// copyOption notes what runs programs here: the remote shell of rsync, and the ssh, the server and the settings of scp and sftp.
func (c *call) copyOption(b byte, v Arg) {
	switch c.node.name + " -" + string(b) {
	case "rsync -e", "scp -S", "sftp -S", "scp -D", "sftp -D":
		c.script("", v)
	case "scp -o", "sftp -o", "scp -i", "sftp -i", "scp -F", "sftp -F":
		c.sshOption(b, v)
	case "rsync -T":
		c.path(v, true)
	case "sftp -b":
		c.path(v, false)
	}
}

// copies: scp, rsync and their like; the last operand is written.
func copies(c *call) {
	var ops []Arg
	for i := 0; i < len(c.args); i++ {
		a := c.args[i]
		s := a.Text
		switch {
		case a.certain() && (s == "--rsh" || s == "--rsync-path") && i+1 < len(c.args):
			i++
			c.script("", c.args[i])
		case strings.HasPrefix(s, "--rsh="), strings.HasPrefix(s, "--rsync-path="):
			c.script("", word(s[strings.IndexByte(s, '=')+1:]))
		case a.certain() && (s == "--del" || s == "--delete" || strings.HasPrefix(s, "--delete-") || s == "--remove-source-files" || s == "--remove-sent-files"):
			c.say(danger, "removes files")
		case a.certain() && strings.HasPrefix(s, "--"):
		case a.dash() && a.certain():
			i += c.lettered(c.args[i:], copyLetters[c.node.name], c.copyOption)
		default:
			ops = append(ops, a)
		}
	}
	for i, a := range ops {
		if !strings.Contains(a.Text, ":") {
			c.path(a, i == len(ops)-1)
		}
		if i == len(ops)-1 && c.find.Class == danger {
			c.remove(a)
		}
	}
}

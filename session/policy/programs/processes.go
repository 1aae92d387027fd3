package programs

import (
	"strconv"
	"strings"
)

// stopsAll: a pattern that every name matches, all of root's processes, or all but some.
func stopsAll(c *call) {
	const all = "stops every process, or all that a system needs"
	words := 0
	for i, a := range c.args {
		s := a.Text
		prev := ""
		if i > 0 {
			prev = c.args[i-1].Text
		}
		switch {
		case !a.certain():
			words++
		case listed("-u -U --user --euid --uid", prev) && c.node.name != "snice", strings.HasPrefix(s, "--user="), strings.HasPrefix(s, "--euid="), strings.HasPrefix(s, "--uid="):
			if owner := s[strings.IndexByte(s, '=')+1:]; owner == "root" || owner == "0" {
				c.say(forbid, all)
			}
		case listed("-uroot -Uroot -u0 -U0", s), c.node.name == "pkill" && (s == "-v" || s == "--inverse"):
			c.say(forbid, all)
		case strings.HasPrefix(s, "-") && len(s) > 1:
		case listed("-s --signal -g -G -P -t -n -o -F", prev):
		default:
			words++
			if strings.Trim(s, ".*^$+()|[]?") == "" && (c.node.name == "pkill" || c.given("-r") || c.given("--regexp")) || listed("systemd init 1", s) {
				c.say(forbid, all)
			}
		}
	}
}

// ps has three styles of options at once.
func ps(c *call) {
	args := c.args
	for i := 0; i < len(args); i++ {
		a := args[i]
		s := a.Text
		switch {
		case !a.certain():
			if a.dash() || a.Split {
				c.say(unknown, "shows environments where an option says so, and a word that isn't literal could be one")
			} else if s == "" || s[0] > '9' {
				c.say(unknown, "has a word that isn't literal and could be an option")
			}
		case strings.HasPrefix(s, "--"):
			name, _, glued := strings.Cut(s, "=")
			switch {
			case listed("--no-headers --no-heading --headers --heading --forest --cumulative --deselect --info --context --help --version --signames", name):
			case listed("--pid --ppid --sort --user --User --group --Group --cols --columns --width --rows --lines --format --tty --sid --quick-pid", name):
				if !glued {
					i++
				}
				if name == "--format" && (strings.Contains(strings.ToLower(s), "env") || i < len(args) && psFormat(args[i])) {
					c.say(secret, "shows environments, which may hold secrets")
				}
			default:
				c.say(unknown, "has an option that no table lists")
			}
		case strings.HasPrefix(s, "-"):
			i += psUnix(c, s[1:], args[i+1:])
		default:
			i += psBSD(c, s, args[i+1:])
		}
	}
}

func psFormat(a Arg) bool {
	return !a.certain() || strings.Contains(strings.ToLower(a.Text), "env")
}

const psShows = "shows environments, which may hold secrets"

func psUnix(c *call, s string, next []Arg) int {
	for k := 0; k < len(s); k++ {
		switch b := s[k]; {
		case strings.IndexByte("AedaNfFjlyMHLTZwVcPm", b) >= 0:
		case strings.IndexByte("oOpCGgqstuUk", b) >= 0:
			value := s[k+1:]
			if b != 'o' && b != 'O' && b != 'C' && strings.ContainsAny(s, "e") && value != "" && strings.Trim(value, "0123456789,") != "" {
				// "-auxe" is no user "xe": ps reads it as "auxe" then, which shows environments.
				c.say(secret, psShows)
			}
			if value != "" {
				if b == 'o' && strings.Contains(strings.ToLower(value), "env") {
					c.say(secret, psShows)
				}
				return 0
			}
			if len(next) > 0 && (b == 'o' || b == 'O') && psFormat(next[0]) {
				c.say(secret, psShows)
			}
			if len(next) > 0 && (next[0].Split || next[0].Glob) {
				c.say(unknown, "has a value that may become several words")
			}
			return 1
		default:
			c.say(unknown, "has an option that no table lists")
		}
	}
	return 0
}

func psBSD(c *call, s string, next []Arg) int {
	if strings.Trim(s, "0123456789,") == "" {
		return 0 // process ids
	}
	for k := 0; k < len(s); k++ {
		switch b := s[k]; {
		case b == 'e':
			c.say(secret, psShows)
		case strings.IndexByte("aTrxgjlsuvXfhnwHmLcSZVM", b) >= 0:
		case strings.IndexByte("oOptUkNq", b) >= 0:
			if k+1 < len(s) {
				if strings.Contains(strings.ToLower(s[k:]), "env") {
					c.say(secret, psShows)
				}
				return 0
			}
			if len(next) > 0 && psFormat(next[0]) {
				c.say(secret, psShows)
			}
			return 1
		default:
			c.say(unknown, "has an option that no table lists")
		}
	}
	return 0
}

func top(c *call) {
	if !c.has("-b") || !c.has("-n") {
		if !c.given("--help") && !c.given("-h") && !c.given("-V") && !c.given("--version") {
			c.say(unknown, "is full-screen and never ends, but for top -b -n 1")
		}
	}
	if a, ok := c.val("-n"); ok && (!a.certain() || len(a.Text) > 2) {
		c.say(unknown, "may take long")
	}
}

// interval: an interval without a count never ends.
func interval(c *call) {
	n, seconds := 0, 1.0
	for _, a := range c.ops {
		if a.certain() && strings.Trim(a.Text, "0123456789.") == "" {
			n++
			if f, err := strconv.ParseFloat(a.Text, 64); err == nil && n <= 2 {
				seconds *= f
			}
		} else if !a.certain() {
			n = 1
			break
		}
	}
	if n == 1 || c.node.name == "free" && c.has("-s") && !c.has("-c") {
		c.say(unknown, "with an interval and no count never ends")
	}
	if n > 1 && seconds > 120 {
		c.say(unknown, "may take long")
	}
}

// kill: signal 0 only asks whether the process is there.
func kill(c *call) {
	asks, dashes := false, false
	class := danger
	for i := 0; i < len(c.args); i++ {
		a := c.args[i]
		s := a.Text
		switch {
		case !a.certain():
			asks = asks && !a.dash() && !a.Split
		case s == "-l" || s == "-L" || s == "--list" || s == "--table" || s == "--help" || s == "--version":
			if i == 0 {
				return
			}
		case i == 0 && s == "-0", i == 0 && s == "-s" && len(c.args) > 1 && (c.args[1].Text == "0" || c.args[1].Text == "EXIT"):
			asks = true
			if s == "-s" {
				i++
			}
		case i == 0 && (s == "-s" || s == "-n"):
			i++
		case s == "--":
			dashes = true
		case s == "-1" && (i > 0 || dashes):
			class, asks = forbid, false
		case i > 0 && strings.HasPrefix(s, "-"):
			asks = asks && strings.Trim(s[1:], "0123456789") == ""
		}
	}
	switch {
	case asks:
	case class == forbid:
		c.say(forbid, "stops every process")
	case len(c.args) > 0:
		c.say(danger, "stops processes")
	}
}

func prlimit(c *call) {
	for i, a := range c.args {
		if !a.certain() {
			c.say(unknown, "has a word that isn't literal")
			return
		}
		switch s := a.Text; {
		case strings.Contains(s, "="), strings.ContainsAny(s, ":"):
			c.say(write, "changes limits")
		case strings.HasPrefix(s, "-"):
			if !listed("-p --pid --json --raw --noheadings --verbose -a -c -d -e -f -i -l -m -n -q -r -s -t -u -v -x -y --help --version --output -o", s) {
				c.say(unknown, "has an option that no table lists")
			}
		case strings.Trim(s, "0123456789") == "" && i > 0:
		default:
			c.nest(c.args[i:])
			c.say(unknown, "runs a command with other limits")
			return
		}
	}
}

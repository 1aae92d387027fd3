package programs

import (
	"strconv"
	"strings"
)

const psShows = "shows environments, which may hold secrets"

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

// seconds reads a duration as sleep and timeout write it.
func (a Arg) seconds() (float64, bool) {
	s, unit := a.Text, 1.0
	if !a.certain() || s == "" {
		return 0, false
	}
	switch s[len(s)-1] {
	case 's':
		s = s[:len(s)-1]
	case 'm':
		s, unit = s[:len(s)-1], 60
	}
	if strings.Trim(s, digits+".") != "" {
		return 0, false
	}
	n, err := strconv.ParseFloat(s, 64)
	return n * unit, err == nil
}

// aWhile is how long, in seconds, a command may wait and still be part of looking. A longer one holds the session.
const aWhile = 120

func sleeping(c *call) {
	total := 0.0
	for _, a := range c.ops {
		n, ok := a.seconds()
		if total += n; !ok || total > aWhile/2 {
			c.say(unknown, "may take long")
		}
	}
}

// bounded: what timeout runs ends, where it is ended by the usual signal and soon.
func bounded(c *call) {
	if len(c.ops) == 0 || c.has("-s", "--foreground") {
		return
	}
	if n, ok := c.ops[0].seconds(); ok && n > 0 && n <= aWhile/2 {
		for i := range c.find.Nested {
			c.find.Nested[i].Bounded = true
		}
	}
}

// interval: an interval without a count never ends.
func interval(c *call) {
	var numbers []float64
	for _, a := range c.ops {
		if n, ok := a.seconds(); ok {
			numbers = append(numbers, n)
		} else if !a.certain() {
			c.say(endless, "with an interval and no count never ends")
		}
	}
	delay := 3.0
	if a, ok := c.val("-d"); ok && c.node.name == "top" {
		delay, _ = a.seconds()
	}
	for _, name := range [...]string{"-s", "-n", "-c"} {
		// free -s SECONDS -c COUNT, top -d SECONDS -n COUNT
		if a, ok := c.val(name); ok && (c.node.name == "free" || c.node.name == "top" && name == "-n") {
			n, ok := a.seconds()
			if !ok {
				n = aWhile + 1
			}
			if numbers = append(numbers, n); c.node.name == "top" {
				numbers = append(numbers, delay)
			}
		}
	}
	switch {
	case len(numbers) == 1 && c.node.name != "free":
		c.say(endless, "with an interval and no count never ends")
	case len(numbers) > 1 && numbers[0]*numbers[1] > aWhile:
		c.say(endless, "may take long")
	}
}

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
			if a.dash() {
				c.say(unknown, "shows environments where an option says so, and a word that isn't literal could be one")
			} else if a.Operand || s[0] > '9' {
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
			i += psLetters(c, s[1:], args[i+1:], "AedaNfFjlyMHLTZwVcPm", "oOpCGgqstuUk", false)
		case strings.Trim(s, "0123456789,") != "": // else process ids
			i += psLetters(c, s, args[i+1:], "aTrxgjlsuvXfhnwHmLcSZVM", "oOptUkNq", true)
		}
	}
}

func psFormat(a Arg) bool {
	return !a.certain() || strings.Contains(strings.ToLower(a.Text), "env")
}

// psLetters reads a cluster: of the letters that take a value, o, O and in the style of BSD all may show the environment.
func psLetters(c *call, s string, next []Arg, flags, values string, bsd bool) int {
	for k := 0; k < len(s); k++ {
		b, value := s[k], s[k+1:]
		format := bsd || b == 'o' || b == 'O'
		switch {
		case bsd && b == 'e':
			c.say(secret, psShows)
		case strings.IndexByte(flags, b) >= 0:
		case strings.IndexByte(values, b) < 0:
			c.say(unknown, "has an option that no table lists")
		case value != "":
			// "-auxe" is no user "xe": ps reads it as "auxe" then, which shows environments.
			users := !format && b != 'C' && strings.Contains(s, "e") && strings.Trim(value, "0123456789,") != ""
			if users || format && strings.Contains(strings.ToLower(value), "env") {
				c.say(secret, psShows)
			}
			return 0
		default:
			if len(next) > 0 && format && psFormat(next[0]) {
				c.say(secret, psShows)
			}
			if len(next) > 0 && (next[0].Split || next[0].Glob) {
				c.say(unknown, "has a value that may become several words")
			}
			return 1
		}
	}
	return 0
}

// seconds reads a duration as sleep and timeout write it.
func (a Arg) seconds() (float64, bool) {
	s, unit := strings.TrimPrefix(strings.TrimLeft(a.Text, " \t\n\v\f\r"), "+"), 1.0 // as strtol does
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

// paces are the options by which some programs take an interval and a count, and their interval without one.
var paces = map[string]struct{ interval, count, usual string }{"free": {"-s", "-c", "1"}, "top": {"-d", "-n", "3"}}

// interval: an interval without a count never ends.
func interval(c *call) {
	words := c.ops
	pace, named := paces[c.node.name]
	if named {
		count, counted := c.val(pace.count)
		if !counted {
			return // the tables say which forms end
		}
		each, given := c.val(pace.interval)
		if !given {
			each = word(pace.usual)
		}
		words = []Arg{each, count}
	}
	var numbers []float64
	for _, a := range words {
		if n, ok := a.seconds(); ok {
			numbers = append(numbers, n)
		} else if named || !a.certain() {
			c.say(endless, "with an interval and no count never ends")
		}
	}
	switch len(numbers) {
	case 0:
	case 1:
		c.say(endless, "with an interval and no count never ends")
	default:
		if numbers[0]*numbers[1] > aWhile {
			c.say(endless, "may take long")
		}
	}
}

// oldTail knows the forms of tail that no manual of today names, and every GNU and BSD tail takes: tail +1f FILE, tail -5cf FILE.
func oldTail(c *call) {
	for _, a := range c.args {
		if a.certain() && a.Text == "--" {
			break
		}
		if a.Glob && a.dash() && strings.HasSuffix(a.Source, "*") {
			c.say(endless, "may never end where a file has the name of an option: write ./*")
		}
	}
	if len(c.args) == 0 || len(c.args) > 3 {
		return
	}
	first := c.args[0].Text
	switch {
	case strings.HasPrefix(first, "+") && (follows(first[1:]) || !c.args[0].certain()):
		c.say(endless, "+f may never end")
	case strings.HasPrefix(first, "-") && follows(first[1:]):
		c.say(endless, "-f may never end")
	}
}

// follows reports whether what stands behind the sign of tail's old form, [NUMBER][b|c|l][f], makes it follow the file.
func follows(s string) bool {
	s = strings.TrimLeft(s, digits)
	if len(s) > 1 && strings.IndexByte("bcl", s[0]) >= 0 {
		s = s[1:]
	}
	return s == "f" || s == "F"
}

// fewBytes: head -c 16 /dev/urandom ends soon.
func fewBytes(c *call) {
	a, ok := c.val("-c")
	if !ok || !a.certain() || len(a.Text) > 7 || strings.Trim(a.Text, digits) != "" || c.has("-n", "-#") {
		return
	}
	for i, p := range c.find.Paths {
		c.find.Paths[i].Stat = listed("/dev/urandom /dev/random /dev/zero", p.Arg.Text)
	}
}

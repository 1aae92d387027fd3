package proof

import (
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
)

// operands are put behind programs and options. Each set is shell text.
var operands = []string{
	"", "f", "dir", "g.txt", "link", "dirlink", "nowhere", "loop", "out/passwd", "dirlink/../f", "-", "-- -o", "-- -e", "'a\nb'", "@args", "@f", "'a b'", "./-o",
	"-o pwned", "f -o pwned", "f pwned", "-opwned", "--output=pwned f", "-e 's/b/touch pwned/e' f", "'$(touch pwned)'", "/dev/zero", "/dev/urandom", "/dev/null", "/dev/stdin", "/proc/self/status", "/dev/fd/0",
	"127.0.0.1", "localhost", "http://127.0.0.1:9/x", "nbd://127.0.0.1/x", "nbd:127.0.0.1:9", "ssh://127.0.0.1/x", "127.0.0.1:/x", "hostaddr=127.0.0.1", "postgres://127.0.0.1/x", "a=b", "1", "0", "-1", "x y", "elf", "a.s", "a.c", "s.sh",
	"s.awk", "s.sed", "s.py", "x.json", "x.tar", "x.tar.gz", "x.zip", "x.gz", "x.xml", "x.yaml", "Makefile", "test_x.py", "touch pwned", "sh -c 'touch pwned'", "all", "list", "show", "status", "pwned", "f dir", "dir/*", "*",
	"'BEGIN { print > \"pwned\" }'", "'{ print }' f", "'w pwned' f", "'1e touch pwned' f", ". -delete", ". -name f", ". -fprint pwned", "1 axe", "$$", "-p $$", "1 2 3", "+r 1", "+x", "'|touch pwned'", "'x[$(touch pwned)]'", "'a[`touch pwned`]'",
	"scterc,70,70", "-v -v", "-t -o pwned f", "f -f args", "-f args", "-W x", "-J-version", "--", "-l f", "+1", "+10 f", "axe", "axo pid", "a -o pwned",
}

// values are given to options.
var values = []string{
	"1", "f", "-o", "pwned", "0", "a=b", "'|touch pwned'", "'!touch pwned'", "@args", "all", "127.0.0.1", "/dev/zero", "s.awk", "args", "dir", "-1", "x", "'%n'", "s.py", "'a\nb'", "scterc,70,70", "'touch pwned'",
	"hostaddr=127.0.0.1", "nbd://127.0.0.1/x", "'x[$(touch pwned)]'", "-e", "--output=pwned", "help", "list", "/tmp/w/pwned", "1,2", "10000", "auto", "always", "full", "'w pwned'", "'{ print > \"pwned\" }'", "'system(\"touch pwned\")'",
	"'select 1'", "'\\! touch pwned'",
}

// behindDigits are glued to options whose value may be digits: of some programs the letters are further options.
var behindDigits = []string{"0o pwned", "1fo pwned f", "9r1", "0dcf"}

// tails go behind a whole command.
var tails = []string{
	"", "", "", "", "", "", "", "", " < f", " < /dev/null", " < /dev/zero", " < link", " <dirlink/../f", " <<E\n-o pwned\nE\n", " 2>/dev/null", " >/dev/null", " 2>&1", " | cat", " | wc -l", " | head -n 2", " | sort", " && ls", "; echo $?", " </dev/tty",
	" | tac | grep -c x", " || true", " | sed p", " | awk '{ print $1 }'", " | xargs -n 1 echo", " | tr a b",
}

// Commands makes commands of the tables.
type Commands struct {
	r       *rand.Rand
	specs   []Spec
	weights []int // one entry per option of a spec, so that programs with many are tried often
	each    []string
	Missing []string // programs that are not on this machine
}

// NewCommands returns a generator for what is installed.
func NewCommands(seed uint64, specs []Spec, extra string) *Commands {
	c := &Commands{r: rand.New(rand.NewPCG(seed, 1))}
	seen := map[string]bool{}
	for _, s := range specs {
		there, known := seen[s.Program]
		if !known {
			there = slices.Contains(builtins, s.Program) || installed(s.Program, extra)
			seen[s.Program] = there
			if !there {
				c.Missing = append(c.Missing, s.Program)
			}
		}
		if there {
			c.specs = append(c.specs, s)
		}
	}
	slices.Sort(c.Missing)
	for i, s := range c.specs {
		c.each = append(c.each, c.systematic(s)...)
		for range min(len(s.Options)/4, 10) + 3 {
			c.weights = append(c.weights, i)
		}
		if s.Coded {
			for range 12 {
				c.weights = append(c.weights, i)
			}
		}
	}
	c.r.Shuffle(len(c.each), func(i, j int) { c.each[i], c.each[j] = c.each[j], c.each[i] })
	return c
}

func installed(name, extra string) bool {
	if _, err := exec.LookPath(name); err == nil {
		return true
	}
	if extra == "" {
		return false
	}
	for _, dir := range []string{"/usr/bin/", "/usr/sbin/", "/bin/", "/sbin/"} {
		if _, err := exec.LookPath(extra + dir + name); err == nil {
			return true
		}
	}
	return false
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// systematic tries each option of a program once in its plain forms.
func (c *Commands) systematic(s Spec) []string {
	base := strings.Join(s.Words, " ")
	out := []string{base, base + " f", base + " dir", base + " -", base + " @args", base + " f pwned"}
	for _, w := range s.Alone {
		out = append(out, base+" "+w, base+" "+w+" "+c.operand())
	}
	for _, o := range s.Options {
		for _, n := range o.Names {
			if n == "-#" {
				n = "-3"
			}
			switch {
			case !o.Value:
				out = append(out, base+" "+n, base+" "+n+" f", base+" "+n+" "+c.operand())
				if len(n) == 2 {
					out = append(out, base+" "+n+"o pwned f")
				}
			case o.Optional:
				out = append(out, base+" "+n+" "+c.operand(), base+" "+glue(n, c.value()), base+" "+glue(n, c.value())+" f")
			default:
				out = append(out, base+" "+n+" "+c.value(), base+" "+n+" "+c.value()+" f", base+" "+glue(n, c.value())+" f", base+" "+n+" -o pwned f")
			}
		}
	}
	if s.Coded {
		for _, l := range letters {
			n := " -" + string(l)
			out = append(out, base+n, base+n+" f", base+n+" "+c.operand(), base+" f"+n)
		}
	}
	return out
}

func glue(name, value string) string {
	if strings.HasPrefix(name, "--") {
		return name + "=" + value
	}
	return name + value
}

func pick(r *rand.Rand, list []string) string { return list[r.IntN(len(list))] }

func (c *Commands) operand() string { return pick(c.r, operands) }
func (c *Commands) value() string   { return pick(c.r, values) }

// Next returns another command. First come all plain forms of all options, then mixtures without end.
func (c *Commands) Next() string {
	if len(c.each) > 0 {
		cmd := c.each[len(c.each)-1]
		c.each = c.each[:len(c.each)-1]
		return cmd
	}
	if len(c.weights) == 0 {
		return "" // nothing is installed
	}
	s := c.specs[c.weights[c.r.IntN(len(c.weights))]]
	var b strings.Builder
	b.WriteString(strings.Join(s.Words, " "))
	if c.r.IntN(3) == 0 {
		b.WriteString(" " + c.operand())
	}
	for range c.r.IntN(4) {
		b.WriteString(" " + c.option(s))
	}
	if c.r.IntN(4) > 0 {
		b.WriteString(" " + c.operand())
	}
	if c.r.IntN(8) == 0 {
		b.WriteString(" " + c.option(s))
	}
	b.WriteString(pick(c.r, tails))
	return b.String()
}

func (c *Commands) option(s Spec) string {
	if len(s.Options) == 0 || s.Coded && c.r.IntN(3) == 0 {
		o := "-" + string(letters[c.r.IntN(len(letters))])
		if c.r.IntN(3) == 0 {
			o += string(letters[c.r.IntN(len(letters))])
		}
		if c.r.IntN(4) == 0 {
			o += " " + c.value()
		}
		return o
	}
	o := s.Options[c.r.IntN(len(s.Options))]
	n := pick(c.r, o.Names)
	if n == "-#" {
		n = "-" + pick(c.r, []string{"0", "1", "20"})
	}
	if strings.HasPrefix(n, "--") && len(n) > 4 && c.r.IntN(3) == 0 { // abbreviated
		n = n[:3+c.r.IntN(len(n)-3)]
	}
	if len(n) == 2 && !o.Value && c.r.IntN(2) == 0 { // a cluster
		for range 1 + c.r.IntN(3) {
			p := s.Options[c.r.IntN(len(s.Options))]
			if m := pick(c.r, p.Names); len(m) == 2 && m != "-#" {
				n += m[1:]
				if p.Value {
					if c.r.IntN(2) == 0 {
						return n + c.value()
					}
					return n + " " + c.value()
				}
			}
		}
		return n
	}
	switch {
	case o.Optional && len(n) == 2 && c.r.IntN(3) == 0:
		return n + pick(c.r, behindDigits)
	case !o.Value && c.r.IntN(12) == 0:
		return glue(n, c.value()) // a value for an option that has none
	case !o.Value:
		return n
	case o.Optional || c.r.IntN(2) == 0:
		return glue(n, c.value())
	case c.r.IntN(12) == 0:
		return n // its value is missing, or the next option
	default:
		return n + " " + c.value()
	}
}

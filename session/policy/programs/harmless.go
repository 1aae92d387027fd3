package programs

import "strconv"

// harmless print what they are told, or nothing at all.
var harmless = []program{
	{name: "stty", class: unknown, why: "changes the terminal", args: "text...", alone: "-a --all -g --save size speed --version --help"},
	{name: "true|false|pwd|arch|nproc|tty|logname|whoami|groups|users|hostid", args: "text...", opts: `
		-L,--logical -P,--physical --all --ignore=text -s,--silent,--quiet -n`},
	{name: "echo", raw: true, check: func(*call) {}},
	{name: "expr|factor", args: "text..."},
	{name: "seq", args: "text text text", opts: `-f,--format=text -s,--separator=text -w,--equal-width -1 -2 -3 -4 -5 -6 -7 -8 -9 -0`},
	{name: "sleep|usleep", args: "text...", calm: true, check: sleeping},
	{name: "yes", class: unknown, why: "never ends", args: "text..."},
	{name: "cal|ncal", args: "text...", opts: `-1,--one -3,--three -n,--months=text -S,--span -s,--sunday -m,--monday -j,--julian -y,--year -w,--week?text -Y,--twelve -V -h -A=text -B=text -b -M`},
	{name: "bc|dc", class: unknown, why: "runs a program of its own language", args: "read...", alone: "--version -v", opts: `-l -q -s -w -e=text -i`},
	{name: "uuidgen", args: "", opts: `-r,--random -t,--time -m,--md5 -s,--sha1 -n,--namespace=text -N,--name=text -x,--hex -6 -7 -C=text`},
	{name: "mcookie", opts: `-f,--file=read -m,--max-size=text -v,--verbose -V`},
	{name: "tput", args: "text...", opts: `-T=text -V`, check: tput, calm: true},
	{name: "clear|reset", opts: `-T=text -V -x`},
	{name: "dircolors", args: "read", opts: `-b,--sh,--bourne-shell -c,--csh,--c-shell -p,--print-database --print-ls-colors`},
	{name: "getconf", args: "text...", opts: `-a -v=text`},
	{name: "locale", args: "text...", opts: `-a,--all-locales -m,--charmaps -c,--category-name -k,--keyword-name -v,--verbose -V`},
	{name: "figlet|cowsay|fortune|banner|lolcat", class: unknown, args: "text..."},
}

// sleeping: a wait of up to a minute is part of looking; a longer one holds the session.
func sleeping(c *call) {
	total := 0.0
	for _, a := range c.ops {
		s, unit := a.Text, 1.0
		if !a.certain() || s == "" {
			c.say(unknown, "may take long")
			return
		}
		switch s[len(s)-1] {
		case 's':
			s = s[:len(s)-1]
		case 'm':
			s, unit = s[:len(s)-1], 60
		case 'h', 'd':
			c.say(unknown, "may take long")
			return
		}
		n, err := strconv.ParseFloat(s, 64)
		if err != nil || !(n >= 0 && n < 1e6) {
			c.say(unknown, "may take long")
			return
		}
		total += n * unit
	}
	if total > 60 {
		c.say(unknown, "may take long")
	}
}

// tput: some capabilities make a terminal or printer run what it is told.
func tput(c *call) {
	for _, a := range c.ops {
		if !a.certain() {
			c.say(unknown, "has a capability that isn't literal")
			return
		}
	}
	if len(c.ops) > 0 && listed("init reset rs1 rs2 rs3 is1 is2 is3 iprog if rf", c.ops[0].Text) {
		c.say(write, "may run a program that sets up the terminal")
	}
}

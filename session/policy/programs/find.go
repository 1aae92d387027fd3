package programs

import "strings"

// find reads find's own little language: starting points, then tests and actions, each with a fixed number of words.
func find(c *call) {
	args := c.args
	i := 0
	for ; i < len(args) && args[i].certain(); i++ {
		switch s := args[i].Text; {
		case s == "-H", s == "-L", s == "-P", strings.HasPrefix(s, "-O") && len(s) <= 3, s == "-E", s == "-X", s == "-x", s == "-s":
			continue
		case s == "-D" && i+1 < len(args):
			i++
			continue
		}
		break
	}
	var starts []Arg
	for ; i < len(args); i++ {
		a := args[i]
		if a.certain() && (strings.HasPrefix(a.Text, "-") || a.Text == "(" || a.Text == "!" || a.Text == ")" || a.Text == ",") {
			break
		}
		if !a.certain() && a.dash() {
			c.say(unknown, "has options that do more than read, and a word that isn't literal could be one")
		}
		starts = append(starts, a)
		c.find.Paths = append(c.find.Paths, Path{Arg: a, Stat: true})
	}
	f := findCall{c: c, starts: starts, everything: true}
	f.expression(args[i:])
	if f.removes && f.everything {
		if len(starts) == 0 {
			starts = []Arg{word(".")}
		}
		for _, a := range starts {
			c.remove(a)
		}
	}
}

type findCall struct {
	c          *call
	starts     []Arg
	removes    bool
	everything bool // no test narrows what is found
}

// findWords says what each test and action takes: t one word of text, s a file whose attributes count.
var findWords = map[string]string{
	"-depth": "", "-d": "", "-xdev": "", "-mount": "", "-daystart": "", "-ignore_readdir_race": "",
	"-noignore_readdir_race": "", "-noleaf": "", "-warn": "", "-nowarn": "", "-follow": "", "-executable": "",
	"-readable": "", "-writable": "", "-false": "", "-true": "", "-print": "", "-print0": "", "-ls": "", "-prune": "",
	"-quit": "", "-a": "", "-and": "", "-o": "", "-or": "", "-not": "", "(": "", ")": "", "!": "", ",": "",
	"-help": "", "--help": "", "-version": "", "--version": "",
	"-maxdepth": "t", "-mindepth": "t", "-regextype": "t", "-type": "t", "-xtype": "t", "-printf": "t", "-fstype": "t",
	"-perm": "t", "-links": "t", "-flags": "t",
	// These narrow.
	"-empty": "n", "-nouser": "n", "-nogroup": "n", "-name": "nt", "-iname": "nt", "-path": "nt", "-ipath": "nt",
	"-wholename": "nt", "-iwholename": "nt", "-regex": "nt", "-iregex": "nt", "-lname": "nt", "-ilname": "nt",
	"-amin": "nt", "-atime": "nt", "-cmin": "nt", "-ctime": "nt", "-mmin": "nt", "-mtime": "nt", "-Bmin": "nt",
	"-gid": "nt", "-group": "nt", "-inum": "nt", "-size": "nt", "-uid": "nt", "-used": "nt", "-user": "nt",
	"-context": "nt", "-newer": "ns", "-anewer": "ns", "-cnewer": "ns", "-samefile": "ns", "-mnewer": "ns",
}

func (f *findCall) expression(args []Arg) {
	c := f.c
	for i := 0; i < len(args); i++ {
		a := args[i]
		if !a.certain() {
			c.say(unknown, "has an expression that isn't literal")
			continue
		}
		takes, ok := findWords[a.Text]
		if !ok && strings.HasPrefix(a.Text, "-newer") && len(a.Text) == len("-newerXY") {
			takes, ok = "nt", true
		}
		if ok {
			for _, t := range []byte(takes) {
				if t == 'n' {
					f.narrows(a.Text, args[i+1:])
					continue
				}
				if i++; i >= len(args) {
					return
				}
				if args[i].Split || args[i].Glob {
					c.say(unknown, "has a pattern that the shell may make several words of; quote it")
				}
				if t == 's' {
					c.find.Paths = append(c.find.Paths, Path{Arg: args[i], Stat: true})
				}
				if a.Text == "-printf" && awkWide.MatchString(args[i].Text) {
					c.say(unknown, "may fill pages")
				}
				if strings.HasPrefix(a.Text, "-newer") && strings.HasSuffix(a.Text, "t") {
					c.zone(args[i])
				}
			}
			continue
		}
		switch a.Text {
		case "-delete":
			f.removes = true
			c.say(danger, "removes what it finds")
		case "-exec", "-execdir", "-ok", "-okdir":
			i += f.exec(args[i+1:])
		case "-fprint", "-fprint0", "-fls", "-fprintf":
			c.say(write, "writes a file")
			if i+1 < len(args) {
				c.path(args[i+1], true)
			}
			if i++; a.Text == "-fprintf" {
				i++
			}
		default:
			c.say(unknown, "has an expression that no table lists")
		}
	}
}

// narrows notes a test that lets some files out; "*" does not.
func (f *findCall) narrows(test string, args []Arg) {
	if len(args) > 0 && args[0].certain() && strings.HasSuffix(test, "name") && strings.Contains(args[0].Text, "*") && strings.Trim(args[0].Text, "*.?") == "" {
		return
	}
	f.everything = false
}

// exec reads the command of -exec: up to ";", or "{} +".
func (f *findCall) exec(args []Arg) int {
	n := 0
	for n < len(args) && !(args[n].certain() && (args[n].Text == ";" || args[n].Text == "+" && n > 0 && args[n-1].Text == "{}")) {
		n++
	}
	argv := make([]Arg, 0, n)
	for _, a := range args[:n] {
		argv = append(argv, f.found(a))
	}
	switch {
	case n == len(args):
		f.c.say(unknown, "has a command without an end")
	case args[n].Text == "+":
		argv[n-1].Glob = true // as many words as there are files
	}
	if n > 0 && args[0].certain() {
		name := args[0].Text
		f.removes = f.removes || Is(name[strings.LastIndexByte(name, '/')+1:], "remover")
	}
	f.c.nest(argv)
	return min(n+1, len(args))
}

// found puts in what is certain of a path that find finds: it begins with the starting point.
func (f *findCall) found(a Arg) Arg {
	before, _, ok := strings.Cut(a.Text, "{}")
	if !a.certain() || !ok {
		return a
	}
	if before == "" {
		switch {
		case len(f.starts) == 0:
			before = "."
		case len(f.starts) == 1:
			before = f.starts[0].Text
		case f.starts[0].Text != "":
			before = f.starts[0].Text[:1]
			for _, s := range f.starts[1:] {
				if !strings.HasPrefix(s.Text, before) {
					before = ""
				}
			}
		}
	}
	return Arg{Text: before, Source: a.Source}
}

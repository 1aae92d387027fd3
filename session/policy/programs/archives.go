package programs

import "strings"

// squeeze: these replace the file by its packed form, unless told to list, test or print.
func squeeze(c *call) {
	if !c.has("-l") && !c.has("-t") && !c.has("-c") && len(c.ops) > 0 {
		c.say(write, "replaces the file")
		for _, a := range c.ops {
			c.path(a, true)
		}
	}
}

func cats(c *call) {
	prints := strings.HasSuffix(c.node.name, "cat")
	for _, a := range c.args {
		if a.dash() {
			if !a.certain() || !listed("-q -c -k -f -v -dc -cd --stdout", a.Text) {
				c.say(unknown, "has an option that no table lists")
			}
			prints = prints || a.certain() && listed("-c -dc -cd --stdout", a.Text)
			continue
		}
		c.path(a, false)
	}
	if prints && c.find.Class == write {
		c.find.Class, c.find.Reason = read, c.node.name+" changes nothing"
	}
}

// tar: the first word may be a cluster without its dash, whose values follow in order. Only listing is a read.
func tar(c *call) {
	t := tarCall{c: c}
	args := c.args
	for i := 0; i < len(args); i++ {
		a := args[i]
		s := a.Text
		switch {
		case !a.certain():
			if i == 0 || a.dash() {
				c.say(unknown, "has options that run programs, and a word that isn't literal could be one")
			}
		case i == 0 && s != "" && s[0] != '-':
			for _, b := range []byte(s) {
				if t.letter(b) && i+1 < len(args) {
					i++
					t.value(b, args[i])
				}
			}
		case strings.HasPrefix(s, "--"):
			i += t.long(s, args[i+1:])
		case len(s) > 1 && s[0] == '-':
			for k := 1; k < len(s); k++ {
				if !t.letter(s[k]) {
					continue
				}
				if k+1 < len(s) {
					t.value(s[k], word(s[k+1:]))
				} else if i+1 < len(args) {
					i++
					t.value(s[k], args[i])
				}
				break
			}
		}
	}
	switch {
	case t.mode == 't':
	case t.mode == 0:
		if len(args) > 0 && !c.given("--version") && !c.given("--help") {
			c.say(unknown, "has no mode that is known")
		}
	case t.into.Text != "" && t.into.catastrophic() || t.into.Text == "/":
		c.say(danger, "unpacks over the system")
	default:
		c.say(write, "packs or unpacks files")
	}
	if t.file.Text != "" || t.file.Source != "" {
		c.path(t.file, t.mode != 't' && t.mode != 'x')
	}
}

type tarCall struct {
	c    *call
	mode byte
	file Arg
	into Arg
}

// letter notes an option and says whether it has a value.
func (t *tarCall) letter(b byte) bool {
	switch b {
	case 't', 'x', 'c', 'r', 'u', 'A', 'd':
		if t.mode != 0 && t.mode != b {
			b = 'c'
		}
		t.mode = b
	case 'v', 'z', 'j', 'J', 'Z', 'a', 'p', 'P', 'k', 'm', 'n', 'o', 'O', 's', 'S', 'R', 'i', 'h', 'l', 'w', 'W', 'B', 'U', '?':
	case 'f', 'C', 'X', 'b', 'N', 'K', 'V', 'H', 'L':
		return true
	case 'I', 'F', 'T', 'g':
		t.c.say(unknown, "has an option that runs a program, or takes options from a file")
		return true
	default:
		t.c.say(unknown, "has an option that no table lists")
	}
	return false
}

func (t *tarCall) value(b byte, v Arg) {
	switch b {
	case 'f':
		t.file = v
		if strings.Contains(v.Text, ":") || !v.certain() && v.Text == "" {
			t.c.say(unknown, "may fetch the archive from another host")
		}
	case 'C':
		t.into = v
	case 'X', 'T':
		t.c.path(v, false)
	case 'I', 'F':
		t.c.script("sh", v)
	}
	if v.Split || v.Glob {
		t.c.say(unknown, "has an option whose value may become several words")
	}
}

func (t *tarCall) long(s string, next []Arg) int {
	name, val, glued := strings.Cut(s, "=")
	value := func() (Arg, int) {
		if glued {
			return word(val), 0
		}
		if len(next) > 0 {
			return next[0], 1
		}
		return Arg{}, 0
	}
	switch name {
	case "--list":
		t.letter('t')
	case "--extract", "--get":
		t.letter('x')
	case "--create", "--append", "--update", "--delete", "--catenate", "--concatenate":
		t.letter('c')
	case "--diff", "--compare":
		t.letter('d')
	case "--file", "--directory":
		v, used := value()
		t.value(map[bool]byte{true: 'f', false: 'C'}[name == "--file"], v)
		return used
	case "--to-command", "--checkpoint-action", "--use-compress-program", "--info-script", "--new-volume-script", "--rsh-command", "--rmt-command":
		v, used := value()
		t.c.script("sh", word(strings.TrimPrefix(v.Text, "exec=")))
		t.c.say(unknown, "runs a program for what it packs or unpacks")
		return used
	case "--exclude", "--strip-components", "--quoting-style", "--occurrence", "--exclude-from", "--transform":
		v, used := value()
		if name == "--exclude-from" {
			t.c.path(v, false)
		}
		if name == "--transform" {
			t.c.say(unknown, "has an expression that no table lists")
		}
		return used
	case "--verbose", "--gzip", "--gunzip", "--ungzip", "--bzip2", "--xz", "--zstd", "--lzma", "--lzip", "--lzop", "--compress", "--auto-compress", "--wildcards", "--no-wildcards", "--full-time",
		"--numeric-owner", "--no-recursion", "--totals", "--utc", "--block-number", "--ignore-case", "--anchored", "--no-anchored", "--force-local", "--absolute-names",
		"--show-transformed-names", "--help", "--version", "--same-owner", "--no-same-owner", "--preserve-permissions", "--to-stdout", "--warning", "--":
	default:
		t.c.say(unknown, "has an option that no table lists")
	}
	return 0
}

package programs

import "strings"

// mount shows the table where nothing but -l and -t are given.
func mount(c *call) {
	for i := 0; i < len(c.args); i++ {
		a := c.args[i]
		switch {
		case a.certain() && listed("-l -v -V --version --help -h --show-labels --verbose", a.Text):
		case a.certain() && (a.Text == "-t" || a.Text == "--types") && i+1 < len(c.args) && c.args[i+1].certain():
			i++
		case a.certain() && strings.HasPrefix(a.Text, "--types="):
		default:
			c.say(danger, "mounts a file system")
		}
	}
}

func partitions(c *call) {
	looks := false
	for i := 0; i < len(c.args); i++ {
		a := c.args[i]
		s := a.Text
		switch {
		case !a.certain():
			c.say(unknown, "has a word that isn't literal")
		case listed("-l --list -x --list-details -s --getsz -d --dump -J --json -F --list-free -g --show-geometry -V --version -v -h --help -p --print --show-size -T --list-types", s):
			looks = true
		case listed("-o --clear", s) && strings.HasSuffix(c.node.name, "gdisk"):
			c.say(forbid, "destroys a partition table")
		case listed("-u --bytes -o --output -b --sector-size -L --color", s):
			if listed("-o --output -b --sector-size", s) {
				i++
			}
		case strings.HasPrefix(s, "-u"), strings.HasPrefix(s, "--output="), strings.HasPrefix(s, "--color"):
		case strings.HasPrefix(s, "-"):
			if listed("-z --zap -Z --zap-all -o --clear --delete --wipe -R --load-backup -l --load-backup", s) && !(s == "-l" && c.node.name != "sgdisk") {
				c.say(forbid, "destroys a partition table")
			}
			c.say(danger, "may change partitions")
		}
	}
	if !looks {
		c.say(danger, "changes partitions")
		if c.node.name == "sfdisk" || c.stdin != "" && c.stdin != "none" {
			c.say(forbid, "replaces a partition table by what it reads")
		}
	}
}

// forced: twice the force overrules what protects volumes in use.
func forced(c *call) {
	n := 0
	for _, a := range c.args {
		switch {
		case a.Text == "--force":
			n++
		case len(a.Text) > 1 && a.Text[0] == '-' && a.Text[1] != '-':
			n += strings.Count(a.Text, "f")
		}
	}
	if n > 1 {
		c.say(forbid, "destroys volumes that are in use")
	}
}

func parted(c *call) {
	shows := false
	for i, a := range c.args {
		s := a.Text
		switch {
		case !a.certain():
			c.say(unknown, "has a word that isn't literal")
		case listed("-l --list print p -v --version -h --help", s):
			shows = true
		case listed("-s --script -m --machine free all unit s MB GB MiB GiB B % chs compact -j --json", s):
		case strings.HasPrefix(s, "/dev/"):
		case listed("mklabel mktable rm mkpart resizepart rescue disk_set", s):
			c.say(forbid, "changes partitions")
		default:
			c.say(danger, "may change partitions")
		}
		_ = i
	}
	if !shows {
		c.say(danger, "changes partitions")
	}
}

func btrfs(c *call) {
	words := ""
	for _, a := range c.args {
		if !a.certain() {
			c.say(unknown, "has a word that isn't literal")
			return
		}
		words += a.Text + " "
	}
	for _, looks := range [...]string{"subvolume list ", "subvolume show ", "filesystem show ", "filesystem df ", "filesystem usage ",
		"filesystem du ", "fi show ", "fi df ", "fi usage ", "device stats ", "device usage ", "scrub status ", "balance status ", "version ",
		"sub list ", "qgroup show ", "--version "} {
		if rest, ok := strings.CutPrefix(words, looks); ok && !strings.Contains(rest, "-z ") && !strings.Contains(rest, "--reset ") {
			return
		}
	}
	c.say(danger, "changes a file system")
}

// dd: of= is written, if= read.
func dd(c *call) {
	out := false
	for _, a := range c.args {
		name, file, ok := strings.Cut(a.Text, "=")
		v := Arg{Text: file, Literal: a.certain(), Source: a.Source}
		switch {
		case !ok && !a.certain():
			c.say(unknown, "has a word that isn't literal")
		case name == "of":
			out = true
			c.path(v, true)
		case name == "if":
			c.path(v, false)
		}
	}
	if !out && c.node.name == "ddrescue" {
		c.say(danger, "writes a file or a disk")
	}
}

package programs

import "strings"

// accounts change who may log in and what they may do.
var accounts = []program{
	{name: "useradd|usermod|adduser|addgroup|gpasswd|groupmod|groupmems", class: danger, why: "changes who may log in", raw: true, check: planting},
	{name: "newusers|chpasswd|chgpasswd", class: forbid, why: "plants passwords", args: "text...", raw: true, check: func(*call) {}, alone: "--help -h"},
	{name: "userdel|deluser|groupadd|groupdel|delgroup|chsh|chfn|vipw|vigr|pwconv|pwunconv|grpconv|grpunconv|nologin|luseradd|lusermod|smbpasswd|htpasswd|kadmin|kadmin.local|ldappasswd|realm|sss_override|authconfig|authselect|pam-auth-update|dpkg-statoverride",
		class: danger, why: "changes who may log in", args: "text..."},
	{name: "passwd", class: danger, why: "changes a password", args: "text...", alone: "-S --status --help", raw: true, check: func(c *call) {
		for _, a := range c.args {
			if a.certain() && (listed("--delete --stdin", a.Text) || len(a.Text) > 1 && a.Text[0] == '-' && a.Text[1] != '-' && strings.Contains(a.Text, "d")) {
				c.say(forbid, "plants rights: an account without a password, or with one that it is told")
			}
		}
		if len(c.args) <= 2 && len(c.args) > 0 && c.args[0].certain() && listed("-S --status", c.args[0].Text) && (len(c.args) == 1 || c.args[1].certain()) {
			c.find.Class, c.find.Reason = read, c.node.readReason
		}
	}},
	{name: "chage", class: danger, why: "changes when a password expires", raw: true, check: func(c *call) {
		if len(c.args) == 2 && c.args[0].certain() && listed("-l --list", c.args[0].Text) && !c.args[1].dash() {
			c.find.Class, c.find.Reason = read, c.node.readReason
		}
	}},
	{name: "visudo", class: danger, why: "edits who may take root's rights", raw: true, check: func(*call) {}, alone: "-c --check -V --version"},
	{name: "pwck|grpck", class: write, args: "read...", alone: "-r -qr -rq"},
	{name: "faillock|pam_tally2", args: "", opts: `--user=text --reset!danger --dir=read`},
	{name: "lid|members|getsubids", args: "text...", opts: `-g -n`},
}

// planting: an account with root's number, or in a group that leads there.
func planting(c *call) {
	for i, a := range c.args {
		s := a.Text
		if !a.certain() {
			c.say(danger, "has a word that isn't literal")
			continue
		}
		prev := ""
		if i > 0 {
			prev = c.args[i-1].Text
		}
		for g := range strings.SplitSeq(s[strings.IndexByte(s, '=')+1:], ",") {
			if listed("sudo wheel root docker adm admin shadow disk lxd libvirt kvm-root podman", g) && (i > 0 || strings.Contains(s, "=")) {
				c.say(forbid, "plants rights: the group leads to root")
			}
		}
		switch {
		case listed("-p --password", prev) && listed("root toor", c.args[len(c.args)-1].Text),
			strings.HasPrefix(s, "--password=") && listed("root toor", c.args[len(c.args)-1].Text):
			c.say(forbid, "plants rights: a password for root")
		case s == "0" && (strings.HasSuffix(prev, "u") || strings.HasSuffix(prev, "g") || prev == "--uid" || prev == "--gid" || strings.HasSuffix(prev, "G")),
			s == "-u0", s == "-ou0", s == "--uid=0", s == "--gid=0", s == "-g0":
			c.say(forbid, "plants rights: the number is root's")
		}
	}
}

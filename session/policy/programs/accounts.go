package programs

import "strings"

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

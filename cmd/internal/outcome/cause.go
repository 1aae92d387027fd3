package outcome

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
)

// Cause is one way to fail, and the hosts that failed so.
type Cause struct {
	Names []string
	What  string // "exit 3", "unreachable", …

	why string            // what all of them have; "" where the host answered
	at  string            // why, as the first of them has it, with its address
	own map[string]string // what differs in why between them, by name
}

// CauseOf is how one host failed. prefix says at what, "verify: ".
func CauseOf(name string, r session.Result, prefix string) *Cause {
	what, why := Describe(r)
	_, at := DescribeAt(r)
	c := &Cause{Names: []string{name}, What: prefix + what, at: at}
	var own string
	if c.why, own = Alike(why); own != "" && own != name { // a name is among the names
		c.own = map[string]string{name: own}
	}
	return c
}

// Join takes the hosts of another Cause, and reports whether it is the same one.
func (c *Cause) Join(other *Cause) bool {
	if c.What != other.What || c.why != other.why {
		return false
	}
	c.Names = append(c.Names, other.Names...)
	if c.own == nil {
		c.own = map[string]string{}
	}
	maps.Copy(c.own, other.own)
	return true
}

// String is the cause in words.
func (c *Cause) String() string {
	switch {
	case c.why == "":
		return c.What
	case len(c.Names) == 1:
		return c.What + ": " + c.at
	}
	return c.What + ": " + ForHosts(c.why, c.Names)
}

// Own is what a person needs to know of each host, where String speaks of several: see PerHost.
func (c *Cause) Own() []string {
	if len(c.Names) == 1 {
		return nil
	}
	return PerHost(c.own)
}

// PerHost is what Alike returned of each host, by name: a line for those that have the same, as machines made from one image have
// one key.
func PerHost(own map[string]string) (lines []string) {
	names := map[string][]string{}
	for name, what := range own {
		names[what] = append(names[what], name)
	}
	for what, of := range names {
		lines = append(lines, hosts.Fold(of)+": "+what)
	}
	slices.Sort(lines)
	return lines
}

// Hosts are the names, folded.
func (c *Cause) Hosts() string { return hosts.Fold(slices.Clone(c.Names)) }

// Tell writes the cause, with its hosts.
func (c *Cause) Tell(to io.Writer) {
	text := fmt.Sprintf("fairlead: %s: %s\n", c.Hosts(), c)
	for _, own := range c.Own() {
		text += "  " + own + "\n"
	}
	fmt.Fprint(to, text)
}

// Causes are those of several hosts, in the order in which they came.
type Causes []*Cause

// Add takes how one more host failed.
func (cs *Causes) Add(c *Cause) {
	for _, known := range *cs {
		if known.Join(c) {
			return
		}
	}
	*cs = append(*cs, c)
}

// Tell writes all of them.
func (cs Causes) Tell(to io.Writer) {
	for _, c := range cs {
		c.Tell(to)
	}
}

package outcome

import (
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
)

// What differs between hosts whose keys are not trusted for the same reason.
var (
	fingerprint = lazyregexp.New(`SHA256:[A-Za-z0-9+/]{43}`)
	ofItsKey    = lazyregexp.New(`(the key of|the authority that certified) \S+ `) // and not of the keys that log in: one serves many hosts
	nameless    = lazyregexp.New(`the name (\S+) has no address( \(.*\))?`)
	ofOneHost   = []struct {
		re   *lazyregexp.Regexp
		with string
	}{
		{ofItsKey, "$1 the host "},
		{fingerprint, "SHA256:…"},
		{lazyregexp.New(`for port 22 \S+ has `), "for port 22 the host has "},
		{lazyregexp.New(`but \S+:\d+ has `), "but a known_hosts file has "},
		{lazyregexp.New(`is revoked by \S+:\d+ `), "is revoked by a known_hosts file "},
		{lazyregexp.New(` with: ssh-keygen -f (\S+) -R \S+$`), " with: ssh-keygen -f $1 -R HOST"},
		{lazyregexp.New(`(: fairlead hosts trust(?: -[Fo] (?:'[^']*'|[^' ]+))*) [^-'@ ][^'@ ]*$`), "$1" + anyHost}, // what has an "@" is in no list
	}
)

// anyHost is where Alike leaves out the name of a host that a command takes.
const anyHost = " HOST"

// ForHosts is a reason that Alike returned, with the names of hosts that have it in the command that it ends with.
func ForHosts(alike string, names []string) string {
	if rest, ok := strings.CutSuffix(alike, anyHost); ok && strings.Contains(rest, ": fairlead hosts trust") {
		return rest + " " + printable.Word(hosts.Fold(slices.Clone(names)))
	}
	return alike
}

// Alike is a reason, as Describe returns it, without what differs between hosts that fail for the same one: their keys and
// addresses. own is what a person needs to know of this host, its key's fingerprint; "" is nothing.
func Alike(why string) (alike, own string) {
	own = fingerprint.FindString(why)
	if m := nameless.FindStringSubmatch(why); m != nil && own == "" {
		return strings.Replace(why, m[0], "the name of the host has no address", 1), m[1]
	}
	if own == "" || !ofItsKey.MatchString(why) {
		return why, ""
	}
	for _, x := range ofOneHost {
		why = x.re.ReplaceAllString(why, x.with)
	}
	return why, own
}

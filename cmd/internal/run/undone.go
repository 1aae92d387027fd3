package run

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/held"
)

// maxListed bounds how many refused calls a dry run lists.
const maxListed = 200

// undone collects what the kernels of hosts refused to a command that was held to reading, each call with the hosts that refused it.
type undone struct {
	calls   []held.Refusal // in the order in which they came
	labels  map[held.Refusal][]string
	omitted int      // calls that are not listed
	unknown []string // hosts that do not report what they refuse
	why     string   // the first of them says why
}

func (c *undone) add(label string, r session.Result) {
	for _, call := range r.Refused {
		switch _, known := c.labels[call]; {
		case !known && len(c.calls) >= maxListed && !c.fold():
			c.omitted++
			continue
		case !known:
			c.calls = append(c.calls, call)
		}
		if c.labels == nil {
			c.labels = map[held.Refusal][]string{}
		}
		c.labels[call] = append(c.labels[call], label)
	}
	c.omitted += r.RefusedMore
	if r.RefusedUnknown != "" {
		if c.unknown = append(c.unknown, label); c.why == "" {
			c.why = r.RefusedUnknown
		}
	}
}

// random is what stands for the end of a name that a program makes up (mkstemp(3)).
const random = "XXXXXX"

// madeUp says where such an end may begin in a path: its last six bytes. surely says that there are letters of both cases or digits
// among them.
func madeUp(path string) (at int, ok, surely bool) {
	at = len(path) - len(random)
	if at < 1 || strings.ContainsFunc(path[at:], func(c rune) bool { return c > 'z' || !unicode.IsLetter(c) && !unicode.IsDigit(c) }) {
		return 0, false, false
	}
	return at, true, path[at:] != strings.ToLower(path[at:]) || strings.ContainsAny(path[at:], "0123456789")
}

// alike are calls that differ in such an end alone.
type alike struct {
	calls  []held.Refusal
	surely int
	begins map[byte]bool // how the ends begin
}

// names reports whether a program has made up what differs: of three or more names most look so, and they do not all begin alike.
func (a *alike) names() bool {
	return len(a.calls) > 2 && 2*a.surely >= len(a.calls) && len(a.begins) > 1
}

// fold makes one call of those of three hosts or more, each with a name of its own that differs only in an end that was made up, and
// reports whether any went that way.
func (c *undone) fold() bool {
	all := map[held.Refusal]*alike{}
	for _, call := range c.calls {
		at, ok, surely := madeUp(call.Path)
		if !ok || len(c.labels[call]) > 1 && !strings.HasSuffix(call.Path, random) { // what several hosts name alike is no accident
			continue
		}
		one := call
		one.Path = call.Path[:at] + random
		a := all[one]
		if a == nil {
			a = &alike{begins: map[byte]bool{}}
			all[one] = a
		}
		a.calls = append(a.calls, call)
		a.begins[call.Path[at]] = true
		if surely {
			a.surely++
		}
	}
	into := map[held.Refusal]held.Refusal{}
	for one, a := range all {
		if a.names() || slices.Contains(a.calls, one) {
			for _, call := range a.calls {
				into[call] = one
			}
		}
	}
	before := len(c.calls)
	var kept []held.Refusal
	labels := map[held.Refusal][]string{}
	for _, call := range c.calls {
		to := call
		if one, ok := into[call]; ok {
			to = one
		}
		if labels[to] == nil {
			kept = append(kept, to)
		}
		for _, label := range c.labels[call] {
			if to == call || !slices.Contains(labels[to], label) {
				labels[to] = append(labels[to], label)
			}
		}
	}
	c.calls, c.labels = kept, labels
	return len(kept) < before
}

// text is what to print of them.
func (c *undone) text() string {
	c.fold()
	var b strings.Builder
	if len(c.calls) > 0 {
		b.WriteString("Refused by the kernel, so not done:\n")
	}
	for _, call := range c.calls {
		fmt.Fprintf(&b, "  %s: %s\n", hosts.Fold(c.labels[call]), call)
	}
	if c.omitted > 0 {
		fmt.Fprintf(&b, "  %d more\n", c.omitted)
	}
	if len(c.unknown) > 0 {
		fmt.Fprintf(&b, "refused: unknown on %s: %s\n", hosts.Fold(c.unknown), c.why)
	}
	return b.String()
}

package run

import (
	"fmt"
	"strings"

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
		case !known && len(c.calls) == maxListed:
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

// text is what to print of them.
func (c *undone) text() string {
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

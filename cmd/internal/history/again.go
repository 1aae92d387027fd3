package history

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/redact"
)

// again is what "run" takes to run a command again.
func (o *options) again(number string) ([]string, error) {
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return nil, cmdutil.Usagef("%q is not the number of a command: see fairlead history", number)
	}
	all, err := o.commands()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(all, func(c *command) bool { return c.Number == n })
	if i < 0 {
		return nil, cmdutil.Usagef("no command of yours has the number %d: see fairlead history -n 0", n)
	}
	c := all[i]
	switch {
	case redact.ContainsMark([]byte(c.Command)):
		return nil, cmdutil.Usagef("%d cannot be run again: its command held a secret, which the audit log does not keep", n)
	case c.Status == "":
		return nil, cmdutil.Usagef("%d cannot be run again: its end is not in the audit log, so it may still run", n)
	case c.unkept != "":
		return nil, cmdutil.Usagef("%d cannot be run again: it had %s, which the audit log does not keep. Type it anew", n, c.unkept)
	case c.differs:
		return nil, cmdutil.Usagef("%d had a command of its own on each host: fairlead runs rerun --on all %s runs it again", n, c.Run)
	}
	words, err := o.where(c)
	if err != nil {
		return nil, cmdutil.Usagef("%d cannot be run again: %w. Give fairlead run the full command line", n, err)
	}
	fmt.Fprintf(o.io.Err, "fairlead: on %s: %s\n", hosts.Fold(slices.Clone(c.Hosts)), cmdutil.OneLine(c.Command))
	if c.held { // a dry run stays one
		words = append(words, "--held")
	}
	return append(words, "--", c.Command), nil
}

// where is what "run" takes to reach the hosts of a command as it reached them.
func (o *options) where(c *command) ([]string, error) {
	first := c.targets[0]
	for _, t := range c.targets {
		if t.options != first.options || t.become != first.become {
			return nil, fmt.Errorf("%s and %s were reached in different ways or ran it as different accounts", first.host, t.host)
		}
	}
	become, _, _ := strings.Cut(first.become, " ")
	words := []string{"--no-template", "--become=" + cmp.Or(become, hosts.NoBecome)}
	lines, err := optionsOf(first.options)
	if err != nil {
		return nil, err
	}
	for _, line := range lines {
		words = append(words, "-o", line)
	}
	f := o.finder(c, lines)
	var targets []string
	for _, t := range c.targets {
		name, err := f.find(t)
		if err != nil {
			return nil, err
		}
		targets = append(targets, name)
	}
	return append(words, strings.Join(targets, ",")), nil
}

package history

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
)

// plainOption is an option that stands in the audit log as it was given, for "; " separates them there.
var plainOption = lazyregexp.New(`^[A-Za-z]+=[^\s;"'\\]+$`)

// plain are options whose values are one word, or names of files.
var plain = []string{
	"addressfamily", "batchmode", "connectionattempts", "connecttimeout", "forwardagent", "globalknownhostsfile", "hostkeyalias", "hostname", "identitiesonly",
	"identityfile", "port", "proxyjump", "serveralivecountmax", "serveraliveinterval", "stricthostkeychecking", "user", "userknownhostsfile",
}

// optionsOf are the options of ssh in an entry of the audit log. It is an error where they may not be exact.
func optionsOf(shown string) (lines []string, err error) {
	if shown == "" {
		return nil, nil
	}
	for line := range strings.SplitSeq(shown, "; ") {
		o, err := sshconfig.ParseOption(line)
		if err != nil || !plainOption.MatchString(line) || !slices.Contains(plain, o.Keyword) {
			return nil, fmt.Errorf("the audit log does not keep its options of ssh exactly (%s)", shown)
		}
		lines = append(lines, line)
	}
	return lines, nil
}

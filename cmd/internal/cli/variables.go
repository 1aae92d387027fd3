package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts/printable"
)

// mark is how the names of our variables begin.
const mark = "FAIRLEAD_"

// ours are the variables that a person sets, and those that the program sets for programs that it starts.
var ours = strings.Fields("FAIRLEAD_INVENTORY FAIRLEAD_KEEPER FAIRLEAD_EVENT FAIRLEAD_DELIVERY FAIRLEAD_SSH_BEGUN_BY")

// tellUnknown reports variables that look like ours and have no effect: FAIRLEAD_KEPER=off leaves the keeper on. It is no
// error, as another program may have called its own so. Those that begin like overrides are checked with the inventory.
func tellUnknown(w io.Writer, environ []string) {
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case value == "", !strings.HasPrefix(name, mark), slices.Contains(ours, name), strings.HasPrefix(name, overrides):
		case strings.HasPrefix(name, mark+"TEST_"): // the tests mark processes with them
		default:
			fmt.Fprintf(w, "fairlead: warning: %s is set and has no effect: fairlead reads FAIRLEAD_KEEPER, FAIRLEAD_INVENTORY and FAIRLEAD_DEFAULTS_FIELD (such as FAIRLEAD_DEFAULTS_USER)\n",
				printable.Line(name))
		}
	}
}

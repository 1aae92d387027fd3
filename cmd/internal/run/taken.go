package run

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/session/redact"
)

// tellCounts says how much was taken out; "" if nothing was.
func tellCounts(counts redact.Counts) string {
	if counts.Total() == 0 {
		return ""
	}
	var kinds []string
	for kind, n := range counts.Kinds {
		kinds = append(kinds, fmt.Sprintf("%s %d", kind, n))
	}
	slices.Sort(kinds)
	return fmt.Sprintf("fairlead: secrets in the output were redacted: %s\n", strings.Join(kinds, ", "))
}

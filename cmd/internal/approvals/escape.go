package approvals

import (
	"fmt"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts/printable"
)

// line makes any text fit for one line.
func line(text string) string { return printable.Quoted(text) }

// maxForeign is how many characters outside of ASCII are named.
const maxForeign = 8

// foreign names the characters outside of ASCII that can be seen, since some look like others; "" if there are none.
func foreign(text string) string {
	var named []string
	seen := map[rune]bool{}
	for _, r := range text {
		if r < 0x80 || printable.Hidden(r) || seen[r] {
			continue
		}
		if seen[r] = true; len(named) == maxForeign {
			named = append(named, "…")
			break
		}
		named = append(named, fmt.Sprintf("%c U+%04X", r, r))
	}
	return strings.Join(named, ", ")
}

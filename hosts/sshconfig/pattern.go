package sshconfig

import (
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts/wildcard"
)

// matchList reports whether s matches a comma-separated pattern list. A pattern behind "!" that matches refuses s
// whatever else matches; a list of only such patterns matches nothing.
func matchList(s, list string, fold bool) bool {
	found := false
	for pat := range strings.SplitSeq(list, ",") {
		pat, negated := strings.CutPrefix(pat, "!")
		if fold {
			pat = lower(pat)
		}
		if wildcard.Match(s, pat) {
			if negated {
				return false
			}
			found = true
		}
	}
	return found
}

// lower folds ASCII letters only, as OpenSSH does in its locale-free comparison.
func lower(s string) string {
	for i := range len(s) {
		if 'A' <= s[i] && s[i] <= 'Z' {
			b := []byte(s)
			for k := i; k < len(b); k++ {
				if 'A' <= b[k] && b[k] <= 'Z' {
					b[k] += 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}

package sshconfig

import "strings"

// matchPattern reports whether s matches pat, in which "*" stands for any characters and "?" for exactly one byte. It
// takes time proportional to the product of the lengths at most, whatever the pattern.
func matchPattern(s, pat string) bool {
	i, j := 0, 0
	star, mark := -1, 0
	for i < len(s) {
		switch {
		case j < len(pat) && pat[j] == '*':
			star, mark = j, i
			j++
		case j < len(pat) && (pat[j] == '?' || pat[j] == s[i]):
			i++
			j++
		case star >= 0:
			mark++
			i, j = mark, star+1
		default:
			return false
		}
	}
	return strings.Trim(pat[j:], "*") == ""
}

// matchList reports whether s matches a comma-separated pattern list. A pattern behind "!" that matches refuses s
// whatever else matches; a list of only such patterns matches nothing.
func matchList(s, list string, fold bool) bool {
	found := false
	for pat := range strings.SplitSeq(list, ",") {
		pat, negated := strings.CutPrefix(pat, "!")
		if fold {
			pat = lower(pat)
		}
		if matchPattern(s, pat) {
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

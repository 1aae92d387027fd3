// Package wildcard matches the patterns of OpenSSH's files (ssh_config(5), PATTERNS).
package wildcard

import "strings"

// Match reports whether s matches pattern, in which "*" stands for any characters and "?" for exactly one byte. It takes time
// proportional to the product of the lengths at most, whatever the pattern.
func Match(s, pattern string) bool {
	i, j := 0, 0
	star, mark := -1, 0
	for i < len(s) {
		switch {
		case j < len(pattern) && pattern[j] == '*':
			star, mark = j, i
			j++
		case j < len(pattern) && (pattern[j] == '?' || pattern[j] == s[i]):
			i++
			j++
		case star >= 0:
			mark++
			i, j = mark, star+1
		default:
			return false
		}
	}
	return strings.Trim(pattern[j:], "*") == ""
}

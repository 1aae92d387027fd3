// Package wildcard matches patterns in which "*" stands for any characters and "?" for one, everything else for itself. It
// takes time proportional to the product of the lengths at most, whatever the pattern.
package wildcard

import (
	"strings"
	"unicode/utf8"
)

// Match reports whether s matches pattern, in which "?" is exactly one byte, as in OpenSSH's files (ssh_config(5), PATTERNS)
// and in the names of files.
func Match(s, pattern string) bool { return match(s, pattern, func(string) int { return 1 }) }

// MatchText is Match with "?" for one character.
func MatchText(s, pattern string) bool {
	return match(s, pattern, func(s string) int { _, n := utf8.DecodeRuneInString(s); return n })
}

func match(s, pattern string, width func(string) int) bool {
	i, j := 0, 0
	star, mark := -1, 0
	for i < len(s) {
		switch {
		case j < len(pattern) && pattern[j] == '*':
			star, mark = j, i
			j++
		case j < len(pattern) && pattern[j] == '?':
			i += width(s[i:])
			j++
		case j < len(pattern) && pattern[j] == s[i]:
			i++
			j++
		case star >= 0:
			mark += width(s[mark:])
			i, j = mark, star+1
		default:
			return false
		}
	}
	return strings.Trim(pattern[j:], "*") == ""
}

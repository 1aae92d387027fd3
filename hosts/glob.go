package hosts

import "unicode/utf8"

// globMatch reports whether s is what glob describes: * for any run of characters, ? for one, everything else itself. The
// time is at most the product of both lengths.
func globMatch(glob, s string) bool {
	star, back := -1, 0 // where the last * stood, and where in s it was tried
	g := 0
	for i := 0; i < len(s); {
		_, width := utf8.DecodeRuneInString(s[i:])
		switch {
		case g < len(glob) && glob[g] == '*':
			star, back = g, i
			g++
			continue
		case g < len(glob) && glob[g] == '?':
			g++
			i += width
			continue
		case g < len(glob) && glob[g] == s[i]:
			g++
			i++
			continue
		case star < 0:
			return false
		}
		_, width = utf8.DecodeRuneInString(s[back:])
		back += width
		g, i = star+1, back
	}
	for g < len(glob) && glob[g] == '*' {
		g++
	}
	return g == len(glob)
}

package judge

import (
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts/wildcard"
)

// segments splits a clean path at its slashes; an absolute one begins with an empty segment, and the root is just that.
func segments(p string) []string {
	if p == "/" {
		return []string{""}
	}
	if p == "" || p == "." {
		return nil
	}
	return strings.Split(p, "/")
}

// reaches reports whether a path, which may be a pattern itself, and a pattern have a file in common. A lone wildcard
// in the path reaches files with a fixed place, but not every file in the world that is named badly: a segment that
// only says "anything" does not aim at one.
func reaches(segs, pat []string, pattern bool) bool {
	if len(pat) == 0 {
		return len(segs) == 0
	}
	if pat[0] == "**" {
		rest := pat[1:]
		if len(rest) == 0 {
			return len(segs) > 0
		}
		if !slices.Contains(rest, "**") {
			return len(segs) >= len(rest) && reachesFixed(segs[len(segs)-len(rest):], rest, pattern, true)
		}
		for i := range segs {
			if reachesFixed(segs[i:], rest, pattern, true) {
				return true
			}
		}
		return false
	}
	return reachesFixed(segs, pat, pattern, false)
}

func reachesFixed(segs, pat []string, pattern, floating bool) bool {
	// An unknown beginning, as of $DIR/etc/shadow, reaches a fixed place only when the rest aims at it.
	floating = floating || len(pat) > 0 && len(segs) > 0 && pat[0] == "" && segs[0] != ""
	hidden := false // a directory such as .docker is named: what is in it has a fixed place, too
	for i, p := range pat {
		if p == "**" {
			if i+1 == len(pat) {
				return len(segs) > i
			}
			for j := i; j <= len(segs); j++ {
				if reachesFixed(segs[j:], pat[i+1:], pattern, true) {
					return true
				}
			}
			return false
		}
		if i >= len(segs) {
			return false
		}
		if !pattern {
			if p != segs[i] && !matchGlob(p, segs[i]) {
				return false
			}
			continue
		}
		if ok, aim := overlap(segs[i], p); !ok || floating && !hidden && !aimsAt(segs[i], p, aim) && literalLen(p) > 0 {
			return false
		}
		hidden = (hidden || p == segs[i] && len(p) > 2 && p[0] == '.') && !isWild(p)
	}
	return len(segs) == len(pat)
}

// aimsAt reports whether a name, which may be a pattern, means more of what a pattern of ours says than that it is a file.
// aim is how many characters they have in common.
func aimsAt(s, p string, aim int) bool {
	if n := literalLen(p); n == 0 || extensionOnly(s) && aim < n {
		return false
	} else if aim >= min(3, n) {
		return true
	}
	return p[0] == '.' && aim >= 1 && s != "*" && s != "" && s[0] == '.'
}

// suffixOf reports whether a relative path may be the end of an absolute pattern. Segments of the pattern that match
// anything say nothing.
func suffixOf(segs, pat []string, pattern bool) bool {
	for len(segs) > 0 && segs[0] == ".." {
		segs = segs[1:]
	}
	if len(segs) == 0 || len(segs) >= len(pat) {
		return false
	}
	tail := pat[len(pat)-len(segs):]
	for i, p := range tail {
		if strings.ContainsAny(p, "*?[") {
			return false
		}
		if ok, aim := overlap(segs[i], p); !ok || pattern && (aim < 3 || extensionOnly(segs[i]) && aim < len(p)) {
			return false
		}
	}
	return true
}

// extensionOnly knows *.conf and its like: they say what kind of file, not which.
func extensionOnly(s string) bool {
	return strings.HasPrefix(s, "*.") && !isWild(s[2:])
}

func literalLen(p string) int {
	if strings.IndexByte(p, '[') >= 0 {
		p = withoutBrackets(p)
	}
	return len(p) - strings.Count(p, "*") - strings.Count(p, "?")
}

// token reads one element of a wildcard pattern: star, any one character, or a literal.
func token(s string, i int) (c byte, star, one bool, next int) {
	switch s[i] {
	case '*':
		return 0, true, false, i + 1
	case '?':
		return 0, false, true, i + 1
	case '[':
		if end := bracketEnd(s, i); end > 0 {
			return 0, false, true, end
		}
	}
	return s[i], false, false, i + 1
}

// bracketEnd returns where the bracket expression ends that begins at i, and 0 where none does. A ] that comes first stands for
// itself, and there are brackets within: [[:alpha:]_].
func bracketEnd(s string, i int) int {
	first := i + 1
	if first < len(s) && (s[first] == '!' || s[first] == '^') {
		first++
	}
	for j := first; j < len(s); j++ {
		switch {
		case s[j] == ']' && j > first:
			return j + 1
		case s[j] == '[' && j+1 < len(s) && strings.IndexByte(":.=", s[j+1]) >= 0:
			if k := strings.Index(s[j+2:], s[j+1:j+2]+"]"); k >= 0 {
				j += 2 + k + 1
			}
		}
	}
	return 0
}

// withoutBrackets has ? for each bracket expression: one character, whichever it is.
func withoutBrackets(p string) string {
	var b strings.Builder
	for i := 0; i < len(p); {
		if end := bracketEnd(p, i); p[i] == '[' && end > 0 {
			b.WriteByte('?')
			i = end
			continue
		}
		b.WriteByte(p[i])
		i++
	}
	return b.String()
}

// matchGlob reports whether a pattern matches a text that has no wildcards.
func matchGlob(pat, s string) bool {
	if strings.Contains(pat, "[") {
		ok, _ := overlap(s, pat)
		return ok
	}
	return wildcard.Match(s, pat)
}

// mayBe reports whether ? or a bracket expression may be a character. Only of [0-9] and its like it is certain what they are not: in
// some locales [a-z] is more.
func mayBe(one string, c byte) bool {
	return len(one) < 3 || strings.Trim(one, "[0123456789-]") != "" || '0' <= c && c <= '9' || c >= 0x80
}

// maxSegment bounds the work of comparing two patterns; a longer one is taken to match.
const maxSegment = 256

// overlap reports whether two wildcard patterns, of which b is one of ours, match a common text, and the most literal
// characters that they can have in common.
func overlap(a, b string) (ok bool, aim int) {
	if a == b {
		return true, len(a)
	}
	if !isWild(a) && (!isWild(b) || !strings.Contains(b, "[") && !wildcard.Match(a, b)) {
		return false, 0
	}
	if len(a) > maxSegment {
		return true, maxSegment
	}
	n := len(b) + 1
	best := make([]int16, (len(a)+1)*n) // the best aim so far, plus one; 0 is unreachable
	best[0] = 1
	for i := 0; i <= len(a); i++ {
		for j := 0; j <= len(b); j++ {
			at := best[i*n+j]
			if at == 0 {
				continue
			}
			put := func(i, j int, v int16) {
				if v > best[i*n+j] {
					best[i*n+j] = v
				}
			}
			var ac, bc byte
			var as, bs, ao, bo bool
			ai, bj := i, j
			if i < len(a) {
				ac, as, ao, ai = token(a, i)
			}
			if j < len(b) {
				bc, bs, bo, bj = token(b, j)
			}
			if as {
				put(ai, j, at)
			}
			if bs {
				put(i, bj, at)
			}
			switch {
			case i == len(a) || j == len(b):
			case as && !bs:
				put(i, bj, at)
			case bs && !as:
				put(ai, j, at)
			case as || bs:
			case ao || bo:
				if ao && bo || ao && mayBe(a[i:ai], bc) || bo && mayBe(b[j:bj], ac) {
					put(ai, bj, at)
				}
			case ac == bc:
				put(ai, bj, at+1)
			}
		}
	}
	end := best[len(a)*n+len(b)]
	return end > 0, int(end) - 1
}

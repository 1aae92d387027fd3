package judge

import (
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
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
		ok, aim := overlap(segs[i], p)
		if !ok {
			return false
		}
		if floating && extensionOnly(segs[i]) && aim < literalLen(p) {
			return false
		}
		if floating && p != "" && aim < min(3, literalLen(p)) && !(p[0] == '.' && aim >= 1 && segs[i] != "*" && segs[i] != "" && segs[i][0] == '.') {
			return false
		}
	}
	return len(segs) == len(pat)
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
	p = brackets.ReplaceAllString(p, "")
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
		if j := strings.IndexByte(s[i+1:], ']'); j >= 0 {
			return 0, false, true, i + 1 + j + 1
		}
	}
	return s[i], false, false, i + 1
}

// brackets stand for one character, whichever it is.
var brackets = lazyregexp.New(`\[[^\]]*\]`)

// matchGlob reports whether a pattern matches a text that has no wildcards.
func matchGlob(pat, s string) bool {
	if strings.Contains(pat, "[") {
		pat = brackets.ReplaceAllString(pat, "?")
	}
	return wildcard.Match(s, pat)
}

// maxSegment bounds the work of comparing two patterns; a longer one is taken to match.
const maxSegment = 256

// overlap reports whether two wildcard patterns, of which b is one of ours, match a common text, and the most literal
// characters that they can have in common.
func overlap(a, b string) (ok bool, aim int) {
	if a == b {
		return true, len(a)
	}
	if !strings.ContainsAny(a, "*?[") && !strings.ContainsAny(b, "*?[") {
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
				put(ai, bj, at)
			case ac == bc:
				put(ai, bj, at+1)
			}
		}
	}
	end := best[len(a)*n+len(b)]
	return end > 0, int(end) - 1
}

package hosts

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Expand returns the names that a list of names and ranges stands for, in order and without doubles:
//
//	web[01-12]           web01, web02, … web12: the padding of the first number is kept
//	node[0-10/2,15]      every second from 0 to 10, and 15
//	rack[1-2]n[1-3],gw   six names and one more
//
// It fails with a [*ParseError] on anything else, on names that [CheckName] refuses, and on lists of more than
// [MaxExpand] names.
func Expand(list string) ([]string, error) {
	var (
		out  []string
		seen = map[string]struct{}{}
		col  = 1
	)
	for _, word := range splitList(list) {
		lead := len(word) - len(strings.TrimLeft(word, " \t"))
		names, at, err := expandWord(strings.TrimSpace(word), nameRune, MaxExpand-len(out))
		if err != nil {
			return nil, &ParseError{Column: col + utf8.RuneCountInString(word[:lead+at]), Msg: err.Error()}
		}
		for _, n := range names {
			if _, double := seen[n]; !double {
				seen[n] = struct{}{}
				out = append(out, n)
			}
		}
		col += utf8.RuneCountInString(word) + 1
	}
	return out, nil
}

// expandWord expands one name or range into at most most names.
func expandWord(word string, ok func(rune) bool, most int) (names []string, at int, err error) {
	p, at, err := parsePattern(word, ok)
	if err != nil {
		return nil, at, err
	}
	if p.count() > most {
		return nil, 0, fmt.Errorf("more than %d names", MaxExpand)
	}
	names = p.expand()
	for _, n := range names {
		// Characters are checked; what is left is the word "all" and a name that is nothing but brackets and dots.
		if err := CheckName(n); err != nil && len(p.ranges) == 0 {
			return nil, 0, fmt.Errorf("%q %w", shorten(n), err)
		}
	}
	return names, 0, nil
}

// splitList splits at the commas outside brackets.
func splitList(list string) []string {
	var out []string
	depth, start := 0, 0
	for i := range len(list) {
		switch list[i] {
		case '[':
			depth = 1
		case ']':
			depth = 0
		case ',':
			if depth == 0 {
				out = append(out, list[start:i])
				start = i + 1
			}
		}
	}
	return append(out, list[start:])
}

func decodeRune(s string) (rune, int) { return utf8.DecodeRuneInString(s) }

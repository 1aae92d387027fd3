package rules

import "strings"

// freeKeys are what may always be typed: they interrupt, end, page and move, and give a program no words.
var freeKeys = []string{
	"\x03", "\x04", "\r", "\n", // C-c, C-d, Enter
	"\x1b[A", "\x1b[B", "\x1b[C", "\x1b[D", "\x1bOA", "\x1bOB", "\x1bOC", "\x1bOD", // arrows
	"\x1b[5~", "\x1b[6~", "\x1b[H", "\x1b[F", "\x1bOH", "\x1bOF", "\x1b[1~", "\x1b[4~", // PageUp, PageDown, Home, End
}

// onlyKeys reports whether input is nothing but such keys, or the q that leaves a pager.
func onlyKeys(input string) bool {
	if input == "q" {
		return true
	}
	for input != "" {
		rest := input
		for _, k := range freeKeys {
			if after, ok := strings.CutPrefix(input, k); ok {
				rest = after
				break
			}
		}
		if rest == input {
			return false
		}
		input = rest
	}
	return true
}

package framing

import (
	"slices"
	"strings"
)

// afterInterrupt is what a frame's header tells a shell of the dialect POSIX, which cannot find out for itself, of what may be
// left to run when the program that a script waits for is interrupted: "+" that there may be something, "=word=" that
// there is where word is a function. In doubt it is the first. See host/driver_posix.sh.
//
// It is no parser, and what hides a list from it on purpose only does without its help.
func afterInterrupt(script string) string {
	parts, simple := commands(strings.Trim(script, " \t\n"))
	if !simple {
		return "+"
	}
	last := len(parts) - 1
	for _, part := range parts[:last] {
		word, plain := commandWord(part)
		if !plain || word != "" && !slices.Contains(neverWait, word) {
			return "+"
		}
	}
	switch word, plain := commandWord(parts[last]); {
	case !plain || word == "eval" || word == "." || word == "command":
		return "+"
	case isName(word):
		return "=" + word + "="
	}
	return ""
}

// neverWait are commands that have ended when an interrupt comes.
var neverWait = []string{":", "true", "cd", "echo", "exit", "export", "printf", "pwd", "readonly", "set", "shift", "trap", "ulimit", "umask", "unset"}

// commands cuts a script into its commands. It reports false where that takes a parser.
func commands(script string) (parts []string, simple bool) {
	begin := 0
	cut := func(i, n int) {
		parts = append(parts, script[begin:i])
		begin = i + n
	}
	for i := 0; i < len(script); i++ {
		switch c := script[i]; c {
		case '\\':
			i++
		case '\'':
			n := strings.IndexByte(script[i+1:], '\'')
			if n < 0 {
				return nil, false
			}
			i += n + 1
		case '"':
			for i++; i < len(script) && script[i] != '"'; i++ {
				if script[i] == '`' || strings.HasPrefix(script[i:], "$(") {
					return nil, false
				}
				if script[i] == '\\' {
					i++
				}
			}
			if i >= len(script) {
				return nil, false
			}
		case ';', '\n':
			cut(i, 1)
		case '&', '|':
			switch {
			case i > 0 && c == '&' && (script[i-1] == '>' || script[i-1] == '<'): // a copy of a descriptor
			case i+1 < len(script) && script[i+1] == c:
				cut(i, 2)
				i++
			default:
				return nil, false
			}
		case '(', ')', '`', '#', '{', '}':
			return nil, false
		}
	}
	cut(len(script), 0)
	return parts, true
}

// commandWord returns the first word of a command that is no assignment; "" where there is none. It reports false where
// quotes and other signs make it another word than it seems.
func commandWord(command string) (word string, plain bool) {
	for word := range strings.FieldsSeq(command) {
		name, _, assigned := strings.Cut(word, "=")
		switch {
		case strings.Trim(word, pathBytes+"=:@%,+") != "":
			return "", false
		case !assigned || !isName(name):
			return word, true
		}
	}
	return "", true
}

// isName reports whether s could be the name of a function or variable, and fits a header.
func isName(s string) bool {
	return len(s) < maxLine/4 && isVariable(s+"=")
}

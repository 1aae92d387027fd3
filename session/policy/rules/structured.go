package rules

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fairlead-ssh/fairlead/hosts/strictyaml"
)

// ErrStructured is wrapped by errors about a program and arguments that structured mode does not take.
var ErrStructured = errors.New("rules: not for structured mode")

// Structured checks a program and its arguments, which no shell is to interpret: the program by its bare name and, where
// there is a list, on it; the arguments as they are. Strict limits refuse arguments with shell metacharacters or "..".
// Whether the call is allowed is for [Engine.Decide] to say, of the words quoted for a shell. Errors wrap
// [ErrStructured] or [ErrLimit]; they name the program and the number of an argument, never its text.
func Structured(program string, args []string, l Limits) error {
	if !bareName(program) {
		return fmt.Errorf("%w: the program must be a bare name, without path and shell syntax", ErrStructured)
	}
	if l.Programs != nil && !slices.Contains(l.Programs, program) {
		return fmt.Errorf("%w: the program %s", ErrLimit, strictyaml.Clip(program))
	}
	for i, a := range args {
		switch {
		case strings.IndexByte(a, 0) >= 0:
			return fmt.Errorf("%w: argument %d holds a NUL byte", ErrStructured, i+1)
		case !l.Strict:
		case !utf8.ValidString(a) || strings.ContainsFunc(a, func(r rune) bool { return r < ' ' || r == 0x7f }):
			return fmt.Errorf("%w: argument %d holds control characters or is not UTF-8", ErrStructured, i+1)
		case strings.ContainsAny(a, metacharacters) || strings.HasPrefix(a, "~"):
			return fmt.Errorf("%w: argument %d holds a character that means something to a shell", ErrStructured, i+1)
		case strings.Contains(a, ".."):
			return fmt.Errorf("%w: argument %d holds two dots in a row", ErrStructured, i+1)
		}
	}
	return nil
}

// metacharacters are what any shell may take for more than itself (POSIX.1-2024, XCU 2.2, and what bash and zsh add).
const metacharacters = "|&;<>()$`\\\"'*?[]#!{}^\n\r\t"

// bareName reports whether s may stand for a program without a path: letters, digits and -_.+ not at the front.
func bareName(s string) bool {
	return s == "[" || only(s, alphanumeric+"_-.+", 255) && strings.IndexByte("-.+", s[0]) < 0
}

const alphanumeric = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

// only reports whether s is 1 to most of these characters.
func only(s, chars string, most int) bool {
	return s != "" && len(s) <= most && strings.Trim(s, chars) == ""
}

// recordName reports whether s is fit for records.
func recordName(s string) bool { return only(s, alphanumeric+"-_.", 100) }

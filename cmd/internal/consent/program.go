package consent

import (
	"strings"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

// Program is the script of a program and its arguments, for structured mode. The error says what is no program, or no
// argument.
func Program(words []string) (string, error) {
	if err := rules.Structured(words[0], words[1:], rules.Limits{}); err != nil {
		return "", &programError{err}
	}
	return session.Words(words...)
}

// programError is an error about words without the name of a package in front.
type programError struct{ err error }

func (e *programError) Error() string { return strings.TrimPrefix(e.err.Error(), "rules: ") }
func (e *programError) Unwrap() error { return e.err }

package cmdutil

import (
	"fmt"
	"os"

	"github.com/fairlead-ssh/fairlead/cmd/internal/reason"
)

// UsageError wraps a mistake in how the program was called, or in a file that the caller wrote for it.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }
func (e *UsageError) Unwrap() error { return e.Err }

// Usagef returns a *UsageError.
func Usagef(format string, args ...any) error { return &UsageError{fmt.Errorf(format, args...)} }

// ExitError ends the program with a code. Everything has been said already.
type ExitError struct {
	Code  int
	Exact bool // it counts also where standard output was closed early
}

func (e *ExitError) Error() string { return fmt.Sprintf("exit code %d", e.Code) }

// Exit returns nil for code 0 and an *ExitError for others.
func Exit(code int) error {
	if code == 0 {
		return nil
	}
	return &ExitError{Code: code}
}

// SignalError is the cause of the program's context after a signal asked it to stop.
type SignalError struct {
	Signal os.Signal
	Number int
}

func (e *SignalError) Error() string { return "stopped by " + e.Signal.String() }

// Text is an error's text for people: without the name of the package that it comes from.
func Text(err error) string { return reason.Text(err) }

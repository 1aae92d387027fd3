package become

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
)

// Why there is no program as another account: an [*Error] wraps one of them, or none.
var (
	ErrWrongPassword  = errors.New("become: wrong password")
	ErrNotAllowed     = errors.New("become: not allowed")
	ErrPasswordNeeded = errors.New("become: a password is needed")                   // and none was given
	ErrNotTried       = errors.New("become: the password was wrong on another host") // and was not sent
	ErrNoProgram      = errors.New("become: the program is not installed")
)

var errLines = errors.New("it holds a line break or a NUL byte")

// Error says why there is no program as another account. Its text holds no password.
type Error struct {
	Host   string
	Login  string // the account that logs in
	Become hosts.Become
	Owner  string // whose password the host's program said that it wants; "" where it did not say
	Kind   error  // one of the errors above; nil where it is none of them
	On     string // of ErrNotTried: the host that refused the password
	Said   string // what the host's program said, fit for a message; of ErrNoProgram: its name; else what it asked for besides a password
	Err    error  // what is behind it; nil where there is no more to know

	next string // of ErrNotAllowed: what to do, where a look at what is allowed would not help
}

func (e *Error) Error() string {
	program, how := e.Become.Program(), methods[e.Become.Program()]
	login, said := e.Login, ""
	if login == "" {
		login = "the account that logs in"
	}
	whose := cmp.Or(Question{Login: login, Become: e.Become, Owner: e.Owner}.Whose(), login)
	besides := ""
	if e.Said != "" {
		besides = fmt.Sprintf(", or what was typed for %q", e.Said)
		said = fmt.Sprintf(": it said %q", e.Said)
	}
	var text string
	switch e.Kind {
	case ErrWrongPassword:
		text = fmt.Sprintf("%s does not take the password of %s%s, with which %s was to become %s. It is sent to no other host. Run the command again and type it once more",
			program, whose, besides, login, e.Become.User)
	case ErrNotTried:
		text = fmt.Sprintf("the password of %s for %s was wrong on %s, and was not sent to %s. Run the command again for %s", whose, program, e.On, e.Host, e.Host)
	case ErrNotAllowed:
		next := cmp.Or(e.next, fmt.Sprintf("To see what it allows, run: ssh -t %s %s", printable.Word(e.Host), how.check))
		if e.Err != nil {
			said += ": " + e.Err.Error()
		}
		return fmt.Sprintf("%s does not let %s become %s%s. %s", program, login, e.Become.User, said, next)
	case ErrPasswordNeeded:
		asks, given := fmt.Sprintf("for the password of %s", whose), "none was given"
		if e.Said != "" {
			asks, given = fmt.Sprintf("%q", e.Said), "no answer was given"
		}
		text = fmt.Sprintf("%s asks %s before %s becomes %s, and ", program, asks, login, e.Become.User)
		if e.Err == errLines {
			return text + "what was given cannot be sent: " + errLines.Error() + ". Run the command again and answer in one line"
		}
		text += given
		if e.Err != nil {
			text += " (" + e.Err.Error() + ")"
		}
		return text + fmt.Sprintf(". Run it at a terminal, or let %s need no password (%s)", program, how.free)
	case ErrNoProgram:
		text = fmt.Sprintf("%s is not installed, or %s does not find it: install it, or name another method of become in the inventory", e.Said, login)
	default:
		text = fmt.Sprintf("%s does not start a shell as %s for %s%s", program, e.Become.User, login, said)
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns Kind and Err.
func (e *Error) Unwrap() []error {
	var all []error
	for _, err := range []error{e.Kind, e.Err} {
		if err != nil {
			all = append(all, err)
		}
	}
	return all
}

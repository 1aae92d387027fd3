package session

import "errors"

var (
	// ErrClosed is wrapped by operations on a closed session, lease, pool or transport.
	ErrClosed = errors.New("session: closed")
	// ErrFull is wrapped when a connection has no room for another shell.
	ErrFull = errors.New("session: the connection takes no more sessions")
	// ErrBusy is wrapped when a session is already running a command.
	ErrBusy = errors.New("session: busy")
	// ErrAuth is wrapped by a dial that the server refused because of who asked. It is never retried.
	ErrAuth = errors.New("session: not authenticated")
	// ErrHostKey is wrapped by a dial that ended at the server's host key: unknown, changed or revoked.
	ErrHostKey = errors.New("session: host key not trusted")
	// ErrUnknownOutcome is wrapped by errors after which a command may or may not have run. Do not retry on it.
	ErrUnknownOutcome = errors.New("session: outcome unknown")
	// ErrAudit is wrapped when the record could not be written, and so nothing was sent.
	ErrAudit = errors.New("session: cannot be recorded")
	// ErrDenied is wrapped when policy refused a command. Nothing was sent.
	ErrDenied = errors.New("session: denied")
)

// NoLoginError says that nobody was asked to let anybody in, since whoever dials must not log in there: Host.NoLogin. It
// wraps [ErrAuth].
type NoLoginError struct{ Reason string }

func (e *NoLoginError) Error() string { return e.Reason }

// Unwrap returns ErrAuth.
func (e *NoLoginError) Unwrap() error { return ErrAuth }

// Error says why there is no answer from the host. Its text never contains the command.
//
// Where the end of the caller's context ended the command, before or after it was sent, the Error wraps context.Canceled or
// context.DeadlineExceeded, and the context's cause. A Command.Timeout that ran out is no context, as in os/exec: Code is
// "timeout".
type Error struct {
	Op        string // "dial", "open", "run", …
	Host      string
	Code      string // for programs: "busy", "closed", "denied", "unreachable", "auth", "hostkey", "lost", "timeout", …
	Exec      string // for "busy": the exec that is running
	Sent      bool   // whether any byte of the command had been written; false means that a retry cannot run it twice
	Retriable bool   // whether trying again may help; false for a command that was sent, which may have done things
	Err       error
}

func (e *Error) Error() string {
	text := e.Op
	if e.Host != "" {
		text += " " + e.Host
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

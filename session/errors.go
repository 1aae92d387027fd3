package session

import "errors"

// Errors to branch on with [errors.Is]. An [*Error] is those that its Code stands for, see its documentation, wherever it
// comes from; other errors wrap them.
var (
	// Nothing was sent: trying again cannot run a command twice.

	ErrClosed      = errors.New("session: closed") // the session, lease, pool or transport
	ErrBusy        = errors.New("session: busy")   // the session runs a command already
	ErrFull        = errors.New("session: the connection takes no more sessions")
	ErrUnreachable = errors.New("session: unreachable")                 // no connection, or no shell on it
	ErrAuth        = errors.New("session: not authenticated")           // the server refused who asked; never retried
	ErrHostKey     = errors.New("session: host key not trusted")        // unknown, changed or revoked
	ErrInvalid     = errors.New("session: invalid command")             // it can never be sent
	ErrDenied      = errors.New("session: denied")                      // by the policy
	ErrRejected    = errors.New("session: the approval was refused")    // by a person
	ErrExpired     = errors.New("session: it was not approved in time") // no answer came in time
	ErrVoid        = errors.New("session: the approval is void")        // what it was for has changed
	ErrNotReady    = errors.New("session: not ready")                   // what makes the session ready has failed
	ErrNoTerminal  = errors.New("session: no terminal")                 // the host gives none; one-off commands run without
	ErrNotHeld     = errors.New("session: not held to reading")         // Command.Held, and the host cannot hold it

	// The command was sent.

	ErrTimeout        = errors.New("session: timeout")                      // Command.Timeout or Idle ran out, and it was stopped
	ErrCanceled       = errors.New("session: canceled")                     // stopped because the caller left or asked for it, sent or not
	ErrNeedsTerminal  = errors.New("session: the command needs a terminal") // it was stopped
	ErrOutput         = errors.New("session: the output cannot be written") // a writer of the caller's failed
	ErrUnknownOutcome = errors.New("session: outcome unknown")              // it may or may not have run: do not retry

	ErrAudit          = errors.New("session: cannot be recorded") // Error.Sent says which half
	ErrNotInteractive = errors.New("session: the command takes no typing")
)

// kinds are the errors that codes of an Error stand for. "full" is none of them: files and memory may be full, too.
var kinds = map[string]error{
	"closed": ErrClosed, "busy": ErrBusy, "unreachable": ErrUnreachable, "shell": ErrUnreachable, "auth": ErrAuth, "hostkey": ErrHostKey, "become": ErrAuth,
	"invalid": ErrInvalid, "denied": ErrDenied, "rejected": ErrRejected, "expired": ErrExpired, "void": ErrVoid, "not_ready": ErrNotReady, "not_held": ErrNotHeld, "no_terminal": ErrNoTerminal,
	"timeout": ErrTimeout, "idle": ErrTimeout, "canceled": ErrCanceled, "needs_terminal": ErrNeedsTerminal, "write": ErrOutput,
	"lost": ErrUnknownOutcome, "broken": ErrUnknownOutcome, "audit": ErrAudit,
}

// NoLoginError says that the server was never asked, because the caller must not log in there: Host.NoLogin. It wraps
// [ErrAuth].
type NoLoginError struct{ Reason string }

func (e *NoLoginError) Error() string { return e.Reason }

// Unwrap returns ErrAuth.
func (e *NoLoginError) Unwrap() error { return ErrAuth }

// Error says why there is no answer from the host. Its text never contains the command.
//
// Where the end of the caller's context ended the command, before or after it was sent, the Error wraps context.Canceled or
// context.DeadlineExceeded, and the context's cause. A Command.Timeout that ran out is no context, as in os/exec: it is
// ErrTimeout.
//
// Besides the codes that the errors of this package have ("busy", "closed", "full", "unreachable", "auth", "hostkey",
// "invalid", "denied", "rejected", "expired", "void", "not_ready", "not_held", "no_terminal", "timeout", "idle", "canceled", "needs_terminal", "write",
// "lost", "broken", "audit") there are "stdin" (standard input cannot be read), "shell" (no shell starts), "become" (no shell starts as another account: a
// *become.Error says why; it is an ErrAuth, too), and those of
// packages files, jobs and rollout.
type Error struct {
	Op        string // "dial", "open", "run", …
	Host      string
	Code      string // for programs
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

// Unwrap returns the cause. The nil *Error of a Result has none.
func (e *Error) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.Err
}

// Is reports whether target is the error that Code stands for. The nil *Error of a Result is none.
func (e *Error) Is(target error) bool {
	if e == nil {
		return false
	}
	kind, ok := kinds[e.Code]
	return ok && kind == target
}

package registry

import (
	"errors"
	"fmt"

	"github.com/fairlead-ssh/fairlead/session"
)

// Codes of the errors of this package, all of them *session.Error. Those of the sessions come besides: "busy", "closed",
// "denied", "unreachable", …
const (
	CodeNotFound = "not_found" // no session, command or stream of that name
	CodeExists   = "exists"    // the principal has a session of that name
	CodeConflict = "conflict"  // the request id was used for another request
	CodeGone     = "gone"      // it ran, but its output is not kept any more
	CodeChanged  = "changed"   // the inventory says something else of the session's host than when it was opened; nothing was sent
	CodeInvalid  = "invalid"   // the request makes no sense; nothing was sent
	CodeFull     = "full"      // too many sessions are open
	CodeClosed   = "closed"
)

func fault(op, host, code string, retriable bool, format string, args ...any) *session.Error {
	return &session.Error{Op: op, Host: host, Code: code, Retriable: retriable, Err: fmt.Errorf(format, args...)}
}

// asError makes a *session.Error of whatever a session returned.
func asError(op, host string, err error) *session.Error {
	var e *session.Error
	if errors.As(err, &e) {
		return e
	}
	return &session.Error{Op: op, Host: host, Code: "error", Err: err}
}

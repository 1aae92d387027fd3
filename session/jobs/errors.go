package jobs

import (
	"errors"
	"fmt"

	"github.com/fairlead-ssh/fairlead/session"
)

// Codes of this package's *session.Error.
const (
	CodeNotFound    = "not_found"   // no such job on the host, or none of this principal's
	CodeRunning     = "not_ended"   // it runs, and only what has ended can be removed
	CodeTampered    = "tampered"    // what is on the host is not as it was left
	CodeUnsupported = "unsupported" // the host lacks what a job takes
	CodeNoSpace     = "no_space"
	CodeInvalid     = "invalid"
	CodeExists      = "exists"
	CodeDenied      = "denied"
)

// codes are what scripts say, as errors do.
var codes = map[string]string{
	"not_found": CodeNotFound, "running": CodeRunning, "tampered": CodeTampered, "unsupported": CodeUnsupported,
	"full": CodeNoSpace, "exists": CodeExists, "denied": CodeDenied, "lost": "lost", "elsewhere": CodeNotFound,
}

// err is the failure that an answer tells; nil if there is none.
func (a *answer) err(host string) error {
	if a.fault == "" {
		return nil
	}
	code, why := codes[a.fault], a.why
	if code == "" || !isPrintable(why) || len(why) > 300 {
		code, why = "error", "the host says that it failed"
	}
	return &session.Error{Op: "job", Host: host, Code: code, Sent: true, Retriable: code == CodeNoSpace, Err: errors.New(why)}
}

func fault(host, code, format string, args ...any) error {
	return &session.Error{Op: "job", Host: host, Code: code, Err: fmt.Errorf(format, args...)}
}

// unread is about an answer that was not understood, to something that was sent.
func unread(host string, err error) error {
	return &session.Error{Op: "job", Host: host, Code: "error", Sent: true, Err: err}
}

// mayRun is err of a start, after which the job runs for all that is known if the host said nothing that can be understood.
func mayRun(host string, err error) error {
	if !errors.Is(err, errGarbled) {
		return err
	}
	return &session.Error{Op: "job", Host: host, Code: "lost", Sent: true, Err: fmt.Errorf("%w: the job may run: %w", session.ErrUnknownOutcome, err)}
}

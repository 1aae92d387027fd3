package place

import (
	"context"
	"errors"
	"strings"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session"
)

// Because puts into a Result that was canceled why that was: the keeper hears only that it is to stop.
func Because(ctx context.Context, r session.Result) session.Result {
	if r.Status != session.StatusCanceled || ctx.Err() == nil || r.Err == nil || r.Err.Err == nil {
		return r
	}
	because, ok := endWith(r.Err.Err, context.Cause(ctx))
	if !ok {
		return r
	}
	e := *r.Err
	e.Err = because
	var dial session.Dialed
	if errors.As(r.Err.Err, &dial) {
		through, address, why := dial.Where()
		if short, ok := endWith(why, context.Cause(ctx)); ok {
			why = short
		}
		e.Err = &becauseDialed{because, through, address, why}
	}
	r.Err = &e
	return r
}

// endWith puts a cause where the text of err ends with that of context.Canceled.
func endWith(err, cause error) (*becauseError, bool) {
	before, ok := strings.CutSuffix(err.Error(), context.Canceled.Error())
	return &becauseError{before, cause, err}, ok
}

// becauseError is an error of the keeper's that ends with the cause of the end of a context of this process.
type becauseError struct {
	before     string
	cause, err error
}

func (e *becauseError) Error() string   { return e.before + e.cause.Error() }
func (e *becauseError) Unwrap() []error { return []error{e.cause, e.err} }

// becauseDialed is one of a connection that was being made.
type becauseDialed struct {
	*becauseError
	through, address string
	why              error
}

func (e *becauseDialed) Where() (through, address string, why error) {
	return e.through, e.address, e.why
}

// Refused makes a Result of an error of the keeper's, where that says how a command has ended; other errors are returned,
// mistakes of the caller's as usage errors. sent says whether a byte of the command may have left.
func Refused(err error, host, script string, sent bool) (session.Result, error) {
	r := session.Result{Host: host, Command: script, State: session.Done, Lane: "session"}
	fault := &session.Error{Op: "run", Host: host}
	var problem *wire.Problem
	switch {
	case errors.Is(err, client.ErrCutOff) && sent:
		r.Status, fault.Code, fault.Sent = session.StatusLost, "lost", true
		fault.Err = errors.New("the keeper went away, and how the command ended is not known")
	case errors.Is(err, client.ErrCutOff):
		r.Status, fault.Code, fault.Retriable = session.StatusError, "closed", true
		fault.Err = errors.New("the keeper went away before it came to this host")
	case !errors.As(err, &problem):
		return r, err
	default:
		fault.Code, fault.Retriable, fault.Exec, fault.Err = problem.Code, problem.Retriable, problem.Exec, errors.New(problem.Detail)
		switch s := session.Status(problem.Code); s {
		case session.StatusUnreachable, session.StatusAuth, session.StatusHostKey, session.StatusTimeout, session.StatusLost,
			session.StatusDenied, session.StatusExpired, session.StatusCanceled:
			r.Status = s
		case "become":
			r.Status = session.StatusAuth
		case "quota", "forbidden", "rejected", "void", "not_held":
			r.Status = session.StatusDenied
		case "not_found", "closed", "invalid", "inventory", "gone":
			return r, &cmdutil.UsageError{Err: err}
		default:
			r.Status = session.StatusError
		}
	}
	r.Err = fault
	return r, nil
}

// NotStarted is what becomes of a host whose turn had not come when the request was canceled.
func NotStarted(host, script string) session.Result {
	return session.Result{
		Host: host, Command: script, State: session.Done, Status: session.StatusCanceled, Lane: "session",
		Err: &session.Error{Op: "run", Host: host, Code: "canceled", Retriable: true, Err: errors.New("not started")},
	}
}

// Elsewise reports whether a keeper has refused a request, before it sent anything, for a reason that is its own: the same
// may be done from here. What it refuses to whoever asks is refused here too.
func Elsewise(err error) bool {
	var problem *wire.Problem
	if !errors.As(err, &problem) {
		return false
	}
	switch problem.Code {
	case "stale", "not_found", "inventory", "full", "closed", "rate", "too_large":
		return true
	}
	return false
}

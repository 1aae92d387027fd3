// Package problem owns what the keeper says where a request cannot be done: problem details (RFC 9457) with a code, an HTTP status
// for each code, and the translation of the errors of all layers below.
package problem

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/reason"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/files"
	"github.com/fairlead-ssh/fairlead/session/jobs"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/registry"
	"github.com/fairlead-ssh/fairlead/session/store"
)

var (
	ErrEnding  = &wire.Problem{Status: http.StatusServiceUnavailable, Code: "closed", Retriable: true, Detail: "this keeper is ending: try again"}
	ErrTooMany = &wire.Problem{Status: http.StatusTooManyRequests, Code: "full", Retriable: true, Detail: "too many principals and inventories hold sessions: close some"}
)

// New returns one that says why. Errors in args are told without the names of the packages that they come from.
func New(status int, code, format string, args ...any) *wire.Problem {
	for i, a := range args {
		if err, ok := a.(error); ok {
			args[i] = reason.Text(err)
		}
	}
	return Complete(&wire.Problem{Status: status, Code: code, Detail: fmt.Sprintf(format, args...)})
}

func Invalid(format string, args ...any) *wire.Problem {
	return New(http.StatusUnprocessableEntity, registry.CodeInvalid, format, args...)
}

func NotFound(what, name string) *wire.Problem {
	return New(http.StatusNotFound, registry.CodeNotFound, "there is no %s %.80q", what, name)
}

// Complete fills in what follows from the status.
func Complete(p *wire.Problem) *wire.Problem {
	q := *p
	q.Type, q.Title = "about:blank", http.StatusText(q.Status)
	return &q
}

// statusOf is the HTTP status of an error's code. A command that failed on its host is no failed request.
var statusOf = map[string]int{
	registry.CodeNotFound: http.StatusNotFound, registry.CodeExists: http.StatusConflict, registry.CodeConflict: http.StatusConflict, registry.CodeChanged: http.StatusConflict,
	registry.CodeGone: http.StatusGone, registry.CodeClosed: http.StatusGone, registry.CodeInvalid: http.StatusUnprocessableEntity,
	registry.CodeFull: http.StatusTooManyRequests, registry.CodeNotRunning: http.StatusConflict,
	registry.CodeNotInteractive: http.StatusConflict, registry.CodeSignal: http.StatusConflict,
	"busy": http.StatusConflict, "denied": http.StatusForbidden, "rejected": http.StatusForbidden, "expired": http.StatusForbidden,
	"unreachable": http.StatusBadGateway, "auth": http.StatusBadGateway, "hostkey": http.StatusBadGateway, "lost": http.StatusBadGateway,
	files.CodePermission: http.StatusForbidden, files.CodeDirectory: http.StatusUnprocessableEntity, files.CodeSpecial: http.StatusUnprocessableEntity,
	files.CodeNoMatch: http.StatusConflict, files.CodeManyMatch: http.StatusConflict, files.CodeTooLarge: http.StatusRequestEntityTooLarge,
	files.CodeNoSpace: http.StatusInsufficientStorage,
	jobs.CodeRunning:  http.StatusConflict, jobs.CodeTampered: http.StatusConflict, jobs.CodeUnsupported: http.StatusUnprocessableEntity,
	"listen": http.StatusConflict, "refused": http.StatusBadGateway,
	"timeout": http.StatusGatewayTimeout, "canceled": http.StatusServiceUnavailable,
}

// Of tells an error to a caller.
func Of(err error) *wire.Problem {
	var (
		ours  *wire.Problem
		sess  *session.Error
		quota *rules.QuotaError
	)
	p := &wire.Problem{Status: http.StatusInternalServerError, Code: "error", Detail: cmdutil.Why(err)}
	if text, fault := store.Fault(err); fault && !errors.As(err, &ours) {
		return Store(err, text)
	}
	switch {
	case errors.As(err, &ours):
		return Complete(ours)
	case errors.As(err, &sess):
		p.Code, p.Retriable, p.Exec = sess.Code, sess.Retriable, sess.Exec
		if s := statusOf[sess.Code]; s != 0 {
			p.Status = s
		}
	case errors.As(err, &quota):
		p.Status, p.Code, p.Retriable = http.StatusTooManyRequests, "quota", true
	case errors.Is(err, rules.ErrLimit), errors.Is(err, rules.ErrStructured), errors.Is(err, approval.ErrForbidden):
		p.Status, p.Code = http.StatusForbidden, "denied"
	case errors.Is(err, approval.ErrProof):
		p.Status, p.Code = http.StatusForbidden, "proof"
	case errors.Is(err, approval.ErrUnkept):
		p.Status, p.Code, p.Retriable = http.StatusServiceUnavailable, "store", true
	case errors.Is(err, approval.ErrUnknown):
		p.Status, p.Code = http.StatusNotFound, registry.CodeNotFound
	case errors.Is(err, approval.ErrSettled), errors.Is(err, approval.ErrMismatch):
		p.Status, p.Code = http.StatusConflict, registry.CodeConflict
	case errors.Is(err, approval.ErrScope):
		p.Status, p.Code, p.Detail = http.StatusUnprocessableEntity, registry.CodeInvalid, strings.TrimPrefix(p.Detail, "approval: ")
	case errors.Is(err, approval.ErrInvalid):
		p.Status, p.Code = http.StatusUnprocessableEntity, registry.CodeInvalid
	case errors.Is(err, store.ErrNotFound):
		p.Status, p.Code = http.StatusNotFound, registry.CodeNotFound
	case errors.Is(err, store.ErrForbidden), errors.Is(err, store.ErrToken):
		p.Status, p.Code = http.StatusForbidden, "denied"
	case errors.Is(err, store.ErrExists), errors.Is(err, store.ErrInactive), errors.Is(err, store.ErrNotPending), errors.Is(err, store.ErrExpired),
		errors.Is(err, store.ErrMismatch), errors.Is(err, store.ErrNotEnded), errors.Is(err, store.ErrKeyReused), errors.Is(err, store.ErrClaimed), errors.Is(err, ErrSandbox):
		p.Status, p.Code = http.StatusConflict, registry.CodeConflict
	case errors.Is(err, store.ErrInvalid), errors.Is(err, store.ErrTooLarge), errors.Is(err, store.ErrCursor):
		p.Status, p.Code = http.StatusUnprocessableEntity, registry.CodeInvalid
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		p.Status, p.Code, p.Retriable = http.StatusServiceUnavailable, "canceled", true
	}
	return Complete(p)
}

// CodeOf is the code of a session's error; "" for others.
func CodeOf(err error) string {
	var e *session.Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// Write answers a request that gets no further.
func Write(w http.ResponseWriter, p *wire.Problem) {
	p = Complete(p)
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // the caller may be gone
}

// Reword makes a problem of ours from one of the framework's, without the values that it complains about: they may hold
// secrets.
func Reword(_ huma.Context, _ string, v any) (any, error) {
	m, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	var why []string
	for _, e := range m.Errors {
		text := e.Message
		if e.Location != "" {
			text = e.Location + ": " + text
		}
		why = append(why, text)
	}
	detail := m.Detail
	if len(why) > 0 {
		detail += ": " + strings.Join(why, "; ")
	}
	code := registry.CodeInvalid
	switch m.Status {
	case http.StatusNotFound:
		code = registry.CodeNotFound
	case http.StatusInternalServerError:
		code = "error"
	}
	return New(m.Status, code, "%.2000s", detail), nil
}

// ErrSandbox is wrapped by what says why nothing may run in a sandbox.
var ErrSandbox = errors.New("the sandbox does not hold")

// Store tells of a store that does not work. What drivers and systems say, with names and addresses, stays in the log.
func Store(err error, text string) *wire.Problem {
	p := &wire.Problem{Status: http.StatusServiceUnavailable, Code: "store", Retriable: true, Detail: text}
	switch {
	case errors.Is(err, store.ErrFull), errors.Is(err, store.ErrReadOnly):
		p.Status, p.Code = http.StatusInsufficientStorage, "storage"
	case errors.Is(err, store.ErrBusy):
		p.Code = "busy"
	}
	return Complete(p)
}

func KeyUsed() error {
	return New(http.StatusConflict, registry.CodeConflict, "the %s was used for another request", wire.IdempotencyKey)
}

func MadeBefore() error {
	return New(http.StatusGone, registry.CodeGone, "this request was made to a keeper that has ended: the audit log shows whether it ran")
}

func TooLarge(most int64) *wire.Problem {
	return New(http.StatusRequestEntityTooLarge, "too_large", "a request has at most %d bytes", most)
}

package session

import (
	"context"
	"errors"
	"strings"

	"github.com/fairlead-ssh/fairlead/session/become"
)

// ErrorJSON is the stable JSON form of an [Error]. An Error that is made of it wraps the same errors of this package and of
// package context as the one before, so that errors.Is answers alike on both sides of a connection.
type ErrorJSON struct {
	Code      string   `json:"code"`
	Message   string   `json:"message"`
	Retriable bool     `json:"retriable"`
	Exec      string   `json:"exec,omitempty"`
	Op        string   `json:"op,omitempty"`
	Host      string   `json:"host,omitempty" doc:"if it is not the result's"`
	Sent      *bool    `json:"sent,omitempty" doc:"whether any byte of the command had been written; if false, a retry cannot run it twice"`
	Is        []string `json:"is,omitempty" doc:"the kinds of error that it wraps"`

	// Of a connection that could not be made.
	Through string `json:"through,omitempty" doc:"the jump host where the connection ended"`
	Address string `json:"address,omitempty" doc:"the address that was tried"`
	Reason  string `json:"reason,omitempty" doc:"message without host, jump host and address"`
}

// wrapped are the errors that callers branch on, by their names in JSON. Those that a Code stands for go with the Code.
var wrapped = []struct {
	name string
	err  error
}{
	{"closed", ErrClosed}, {"busy", ErrBusy}, {"full", ErrFull}, {"unreachable", ErrUnreachable}, {"auth", ErrAuth}, {"hostkey", ErrHostKey},
	{"invalid", ErrInvalid}, {"denied", ErrDenied}, {"rejected", ErrRejected}, {"expired", ErrExpired}, {"void", ErrVoid}, {"not_ready", ErrNotReady}, {"not_held", ErrNotHeld},
	{"timeout", ErrTimeout}, {"stopped", ErrCanceled}, {"needs_terminal", ErrNeedsTerminal}, {"output", ErrOutput}, {"unknown_outcome", ErrUnknownOutcome},
	{"wrong_password", become.ErrWrongPassword}, {"not_allowed", become.ErrNotAllowed}, {"password_needed", become.ErrPasswordNeeded}, {"not_tried", become.ErrNotTried},
	{"audit", ErrAudit}, {"not_interactive", ErrNotInteractive}, {"canceled", context.Canceled}, {"deadline", context.DeadlineExceeded},
}

// Dialed is an error of a connection that could not be made. Transports return one, so that what a person reads can leave out
// what the reader knows.
type Dialed interface {
	error

	// Where returns the jump host where the connection ended ("" is none), the address that was tried ("" is none), and why.
	Where() (through, address string, why error)
}

func errorJSON(e *Error, host string) *ErrorJSON {
	if e == nil {
		return nil
	}
	j := &ErrorJSON{Code: e.Code, Message: e.Error(), Retriable: e.Retriable, Exec: e.Exec, Op: e.Op, Sent: &e.Sent}
	if e.Host != host {
		j.Host = e.Host
	}
	for _, k := range wrapped {
		if errors.Is(e.Err, k.err) {
			j.Is = append(j.Is, k.name)
		}
	}
	var d Dialed
	if errors.As(e, &d) {
		var why error
		if j.Through, j.Address, why = d.Where(); why != nil {
			j.Reason = why.Error()
		}
	}
	return j
}

// fault is the Error that j was made of, for a result of host.
func (j *ErrorJSON) fault(host string, status Status) *Error {
	if j == nil {
		return nil
	}
	e := &Error{Op: j.Op, Host: j.Host, Code: j.Code, Exec: j.Exec, Retriable: j.Retriable}
	if e.Host == "" {
		e.Host = host
	}
	if j.Sent != nil {
		e.Sent = *j.Sent
	} else { // an older version wrote it
		e.Sent = status == StatusLost || status == StatusTimeout || status == StatusCanceled
	}
	text, ok := strings.CutPrefix(j.Message, e.Error()+": ")
	switch {
	case ok:
	case j.Message == e.Error():
		return e
	default: // an older version wrote it
		e.Host = ""
		if e.Op, text, ok = strings.Cut(j.Message, ": "); !ok {
			e.Op, text = "run", j.Message
		}
	}
	far := &farError{text: text, is: j.Is}
	e.Err = far
	if j.Reason != "" {
		e.Err = &farDialed{farError: far, through: j.Through, address: j.Address, why: errors.New(j.Reason)}
	}
	return e
}

// farError is an error of another process.
type farError struct {
	text string
	is   []string
}

func (e *farError) Error() string { return e.text }

func (e *farError) Is(target error) bool {
	for _, k := range wrapped {
		if k.err == target {
			for _, name := range e.is {
				if name == k.name {
					return true
				}
			}
		}
	}
	return false
}

// farDialed is a [Dialed] of another process.
type farDialed struct {
	*farError
	through, address string
	why              error
}

func (e *farDialed) Where() (through, address string, why error) { return e.through, e.address, e.why }

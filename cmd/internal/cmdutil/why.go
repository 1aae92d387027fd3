package cmdutil

import (
	"errors"

	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// Why returns the reason in err, for one line of text beside the name of the host: without the name of the host and the
// package, and so the same for all hosts that fail alike.
func Why(err error) string {
	if err == nil {
		return ""
	}
	var e *session.Error
	if errors.As(err, &e) && e.Err != nil {
		err = e.Err
	}
	var told *ToldError
	if errors.As(err, &told) {
		return told.Reason
	}
	var conn *sshconn.Error
	if errors.As(err, &conn) {
		text := Text(conn.Err)
		if conn.Hop != "" {
			text = "through " + conn.Hop + ": " + text
		}
		return OneLine(text)
	}
	return OneLine(Text(err))
}

// WhyAt is Why with the address that was tried, where one was.
func WhyAt(err error) string {
	text := Why(err)
	var told *ToldError
	if errors.As(err, &told) {
		return told.ReasonAt
	}
	var conn *sshconn.Error
	if errors.As(err, &conn) && conn.Addr != "" {
		return conn.Addr + ": " + text
	}
	return text
}

// ToldError is an error of another process, as that told it.
type ToldError struct {
	Message          string
	Reason, ReasonAt string // what Why and WhyAt say of it
}

func (e *ToldError) Error() string { return e.Message }

// OneLine makes text fit for a line on a terminal.
func OneLine(text string) string { return printable.Line(text) }

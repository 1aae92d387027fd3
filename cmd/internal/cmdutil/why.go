package cmdutil

import (
	"errors"

	"github.com/fairlead-ssh/fairlead/cmd/internal/reason"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session"
)

// Why returns the reason in err, for one line of text beside the name of the host: without the name of the host and the
// package, and so the same for all hosts that fail alike.
func Why(err error) string { return reason.Of(err) }

// Wrap returns err behind what failed because of it, without the name of the package that err comes from. It unwraps to err.
func Wrap(what string, err error) error { return reason.Wrap(what, err) }

// WhyAt is Why with the address that was tried, where one was.
func WhyAt(err error) string {
	text := Why(err)
	var dial session.Dialed
	if errors.As(err, &dial) {
		if _, address, _ := dial.Where(); address != "" {
			return address + ": " + text
		}
	}
	return text
}

// OneLine makes text fit for a line on a terminal.
func OneLine(text string) string { return printable.Line(text) }

// Package reason says in words why something failed: without what the reader knows, the host and the package of the error.
package reason

import (
	"errors"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session"
)

// Of returns the reason in err, for one line of text beside the name of the host: without the name of the host and the
// package, and so the same for all hosts that fail alike. That of nil is "".
func Of(err error) string {
	if err == nil {
		return ""
	}
	var e *session.Error
	host := ""
	if errors.As(err, &e) && e.Err != nil {
		host, err = e.Host, e.Err
	}
	var dial session.Dialed
	if errors.As(err, &dial) {
		through, _, why := dial.Where()
		text := Text(why)
		if through != "" {
			text = "through " + through + ": " + text
		}
		return printable.Line(text)
	}
	text := Text(err)
	if host != "" {
		text = strings.TrimPrefix(text, host+": ")
	}
	return printable.Line(text)
}

// packages are those whose errors begin with their name. become and output are not here: these are also names of fields.
var packages = []string{
	"hosts", "inventory", "session", "audit", "knownhosts", "sshconn", "sshconfig", "localpty", "dialer", "targets", "rules", "redact", "framing",
	"config", "keeper", "client", "store", "sinks", "notify", "sandbox", "jobs", "approval", "sshsig", "files", "mcpserver", "registry", "screen",
	"telemetry",
}

// Wrap returns err behind what failed because of it, without the name of the package that err comes from. It unwraps to err.
func Wrap(what string, err error) error { return &wrapped{what, err} }

type wrapped struct {
	what string
	err  error
}

func (w *wrapped) Error() string { return w.what + ": " + Text(w.err) }
func (w *wrapped) Unwrap() error { return w.err }

// Text is an error's text for people: without the name of the package that it comes from.
func Text(err error) string {
	text := err.Error()
	for _, p := range packages {
		if rest, ok := strings.CutPrefix(text, p+": "); ok {
			return rest
		}
	}
	return text
}

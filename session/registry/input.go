package registry

import (
	"context"
	"errors"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/redact"
	"github.com/fairlead-ssh/fairlead/session/screen"
)

// Codes of errors about typing.
const (
	CodeNotRunning     = "not_running"     // the command has ended, or the session runs none
	CodeNotInteractive = "not_interactive" // the command takes no typing
	CodeSignal         = "signal"          // the signal could not be sent
)

// Type types text at an interactive command, then the named keys; see screen.Keys. What is typed at a password prompt is
// a secret from then on. Errors are *session.Error; nothing was typed then.
func (x *Exec) Type(ctx context.Context, text string, keys ...string) error {
	host := x.e.Host().Name
	switch {
	case !x.Running():
		return fault("input", host, CodeNotRunning, false, "%s has ended", x.ID())
	case x.screen == nil:
		return fault("input", host, CodeNotInteractive, false, "%s takes no typing: start a command as an interactive one for that", x.ID())
	case redact.ContainsMark([]byte(text)):
		return fault("input", host, CodeInvalid, false, "the text holds the mark of something redacted; the host would get the mark, not the secret")
	}
	pressed, err := screen.Keys(x.screen.Modes(), keys...)
	if err != nil {
		return fault("input", host, CodeInvalid, false, "%w", err)
	}
	if text != "" && x.Waiting().Kind == screen.Password {
		x.secrets().Learn("typed", []byte(text))
	}
	err = x.sx.Input(ctx, append([]byte(text), pressed...))
	switch {
	case err == nil:
		return nil
	case errors.Is(err, session.ErrNotInteractive):
		return fault("input", host, CodeNotRunning, true, "%s does not take input (any more, or yet)", x.ID())
	}
	return asError("input", host, err)
}

// Signal sends INT, TERM or KILL to what the command has started, and does not wait for an effect. A command that somebody
// has yet to approve is withdrawn by any of them.
func (x *Exec) Signal(ctx context.Context, name string) error {
	host := x.e.Host().Name
	if !x.Running() {
		return fault("signal", host, CodeNotRunning, false, "%s has ended", x.ID())
	}
	if x.Awaiting() && (name == "INT" || name == "TERM" || name == "KILL") {
		x.Stop() // soon: it has started nothing
		return nil
	}
	if err := x.sx.Signal(ctx, name); err != nil {
		return fault("signal", host, CodeSignal, true, "%w", err)
	}
	return nil
}

// Resize tells an interactive command that its terminal has another size.
func (x *Exec) Resize(size session.Size) error {
	if x.screen == nil {
		return fault("resize", x.e.Host().Name, CodeNotInteractive, false, "%s has no terminal of its own", x.ID())
	}
	x.screen.Resize(size.Cols, size.Rows)
	return x.sx.Resize(size)
}

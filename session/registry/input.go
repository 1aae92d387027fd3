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
// a secret from then on. Errors are *session.Error; nothing was typed then. Without one it was typed, or waits for an
// approval, as the Typing says; see Refusal.
func (x *Exec) Type(ctx context.Context, text string, keys ...string) (*session.Typing, error) {
	host := x.e.Host().Name
	switch {
	case !x.Running():
		return nil, fault("input", host, CodeNotRunning, false, "%s has ended", x.ID())
	case x.screen == nil:
		return nil, fault("input", host, CodeNotInteractive, false, "%s takes no typing: start a command as an interactive one for that", x.ID())
	case redact.ContainsMark([]byte(text)):
		return nil, fault("input", host, CodeInvalid, false, "the text holds the mark of something redacted; the host would get the mark, not the secret")
	}
	pressed, err := screen.Keys(x.screen.Modes(), keys...)
	if err != nil {
		return nil, fault("input", host, CodeInvalid, false, "%w", err)
	}
	if text != "" && x.Waiting().Kind == screen.Password {
		if !x.secrets().Owner(x.e.principal).LearnTyped([]byte(text)) {
			return nil, fault("input", host, CodeFull, true, "Fairlead redacts too many typed passwords already, and would show this one: restart the keeper (fairlead serve --stop)")
		}
	}
	t := x.sx.Type(ctx, append([]byte(text), pressed...))
	return t, x.Refusal(t)
}

// Refusal is why something was not typed, as a *session.Error; nil where it was, or may yet be.
func (x *Exec) Refusal(t *session.Typing) error {
	if t == nil {
		return nil
	}
	host, err := x.e.Host().Name, t.Err()
	switch {
	case err == nil:
		return nil
	case errors.Is(err, session.ErrNotInteractive):
		return fault("input", host, CodeNotRunning, true, "%s does not take input (any more, or yet)", x.ID())
	}
	e := asError("input", host, err)
	if text, _ := x.secrets().String(e.Err.Error(), x.audience()); text != e.Err.Error() { // who refused it may have named one
		clean := *e
		clean.Err = textError{text, e.Err}
		e = &clean
	}
	return e
}

// Typed says what has become of what was typed last of that which somebody had to approve: "awaiting_approval", "typed" or
// "refused", with the reason. "" means that nobody was asked.
func (x *Exec) Typed() (state string, why error) {
	t := x.sx.Asked()
	switch {
	case t == nil:
		return "", nil
	case t.Awaiting():
		return string(session.AwaitingApproval), nil
	}
	if why = x.Refusal(t); why != nil {
		return "refused", why
	}
	return "typed", nil
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

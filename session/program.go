package session

import (
	"context"
	"errors"

	"github.com/fairlead-ssh/fairlead/framing"
)

// held is t with programs started as the host's Become and Config.Program say. Signals go the same way as shells: process numbers mean
// something only where the shell is.
func (s *Session) held(t Transport) Transport {
	t = s.elevation.on(t)
	if s.cfg.Program == nil {
		return t
	}
	return heldTransport{t, s.cfg.Program}
}

type heldTransport struct {
	Transport
	change func(Program) (Program, error)
}

// Held implements seam.Held.
func (heldTransport) Held() {}

func (t heldTransport) Open(ctx context.Context, p Program) (Stream, error) {
	p, err := t.change(p)
	if err != nil {
		return nil, err
	}
	return t.Transport.Open(ctx, p)
}

var errPlace = errors.New("the session's programs are held in a place of their own, which ends with the session: nothing can go on by itself there")

// wrappable fails x where it cannot be wrapped here.
func (s *Session) wrappable(x *Exec) bool {
	if x.cmd.inner.wrapping == nil || s.cfg.Program == nil {
		return true
	}
	x.fail(StatusError, "invalid", errPlace)
	return false
}

// text is what is sent for x.
func (x *Exec) text(d framing.Dialect) (string, error) {
	switch {
	case x.cmd.Program:
		return `\env ` + x.cmd.Script, nil // env is none of any shell's own, and starts programs alone
	case x.cmd.inner.wrapping == nil:
		return x.cmd.Script, nil
	}
	return x.cmd.inner.wrapping.Wrap(x.cmd.Script, x.s.cfg.Redact(x.cmd.Script), x.s.host, d)
}

package session

import (
	"errors"

	"github.com/fairlead-ssh/fairlead/framing"
)

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

package session

import (
	"errors"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/hosts"
)

// Wrapping is for a command that is sent inside of shell source of ours, to go on by itself as a job for instance. It passes
// the same gate as any: [Command].Script is judged, Text is approved and recorded, and what Wrap makes of the script is sent
// to the session's shell. A session whose programs are started in a place of their own (Config.Program) refuses it: what is
// to go on by itself could not stay there.
type Wrapping interface {
	// Text says exactly what will be done with script: what people approve and what is recorded, there without secrets. It
	// returns the same every time.
	Text(script string) string

	// Changes reports whether something on the host is other than before, whatever the script does: then the request is on
	// the disk before it is sent.
	Changes() bool

	// Wrap returns what a shell of dialect d on h is to run for script, which has been judged.
	Wrap(script string, h hosts.Host, d framing.Dialect) (string, error)
}

var errPlace = errors.New("the session's programs are held in a place of their own, which ends with the session: nothing can go on by itself there")

// wrappable fails x where it cannot be wrapped here.
func (s *Session) wrappable(x *Exec) bool {
	if x.cmd.Wrapping == nil || s.cfg.Program == nil {
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
	case x.cmd.Wrapping == nil:
		return x.cmd.Script, nil
	}
	return x.cmd.Wrapping.Wrap(x.cmd.Script, x.s.host, d)
}

package registry

import (
	"context"
	"errors"

	"github.com/fairlead-ssh/fairlead/session"
)

// A session whose command awaits approval is reserved for it: what was asked about is what will run, in the state in which it
// was asked about. Commands that only read, and mean the same in any shell, need not wait for that. They run beside it, in a
// session of their own that is closed afterwards.

// reserved reports whether cmd is to run beside the session's pending command.
func (e *Entry) reserved(ctx context.Context, cmd Command) bool {
	x := e.Current()
	return x != nil && x.Awaiting() && !e.once && !cmd.Interactive && cmd.Wrapping == nil && !cmd.own &&
		e.s.ReadsAlone(ctx, cmd.Script, cmd.Action != nil)
}

// beside runs a command in a clean shell in the session's directory, with the session's variables.
func (e *Entry) beside(ctx context.Context, cmd Command, live Live) (*Exec, error) {
	req := OpenRequest{Principal: e.principal, Host: e.Host(), Dir: e.Dir(), Reason: cmd.Reason, Place: e.place}
	b, err := e.r.add(req, true)
	if err != nil {
		return nil, err
	}
	// Work on files names its directory itself, but a sandbox judges a path by where the session stands.
	if req.Dir != "" && (cmd.Action == nil || e.place != nil) {
		err = b.begin(ctx, req)
	}
	var x *Exec
	if err == nil {
		x, err = b.startLive(ctx, cmd, live)
	}
	if err != nil {
		b.close("it could not be opened")
		var se *session.Error
		if errors.As(err, &se) {
			return nil, se
		}
		return nil, err
	}
	b.Finish()
	return x, nil
}

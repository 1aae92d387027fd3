package place

import (
	"context"
	"fmt"
	"io"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
)

// Either runs commands in the keeper, and from here what is refused, for the record, and what the keeper cannot do and this
// process may.
type Either struct {
	There   *There
	Here    *Here
	Place   Chooser
	Refused func(hosts.Host) bool // whether the command has been refused on a host; nil is never
	Tell    io.Writer             // is told why it goes on without a keeper
}

func (e *Either) Run(ctx context.Context, hs []hosts.Host, cmd session.Command, done func(HostEnd)) error {
	var refused, rest []hosts.Host
	for _, h := range hs {
		if e.Refused != nil && e.Refused(h) {
			refused = append(refused, h)
		} else {
			rest = append(rest, h)
		}
	}
	if len(refused) > 0 {
		if err := e.Here.Run(ctx, refused, cmd, done); err != nil || len(rest) == 0 {
			return err
		}
	}
	if e.There.Steps.lacks(rest) {
		e.There.Steps.without(refused, rest, cmd, done)
		return nil
	}
	e.There.back = func(err error) bool { return e.Place.Auto() && Elsewise(err) }
	var again []hosts.Host
	err := e.There.Run(ctx, rest, cmd, func(end HostEnd) {
		if e.There.Steps == nil && e.Place.Locked(end.Result) { // a batch would be over before its host is tried again
			again = append(again, end.Host)
			return
		}
		done(end)
	})
	switch {
	case err != nil && e.There.back(err):
		fmt.Fprintf(e.Tell, "fairlead: going on without a keeper: %s\n", cmdutil.OneLine(cmdutil.Text(err)))
		again = rest
	case err != nil:
		return err
	}
	if len(again) == 0 {
		return nil
	}
	return e.Here.Run(ctx, again, cmd, done)
}

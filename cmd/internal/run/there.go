package run

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/consent"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/place"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/redact"
)

// there runs commands in the keeper.
type there struct {
	keeper  *client.Client
	request wire.NewRun // but for what the hosts and the command say
	answers func(in *wire.NewRun, names []string)
	waiting func([]hosts.Host)

	// back reports whether an error that came before anything was sent is to be returned as it is; nil is never.
	back func(error) bool
}

// there returns the runner in the keeper, as far as the flags and what was answered say it.
func (o *Options) there(c *client.Client, judged *consent.Verdict) *there {
	t := &there{keeper: c, request: wire.NewRun{
		Partial: o.Partial, Forks: o.Forks, Shell: o.shell, Stdin: o.Stdin != stdinNone, Redact: o.Redact, Quiet: o.JSON,
	}}
	if o.ConnectTimeout > 0 {
		s := o.ConnectTimeout.Seconds()
		t.request.ConnectTimeoutS = &s
	}
	t.answers = func(in *wire.NewRun, names []string) { place.Answers(in, o.Caller(), o.Yes, judged, names) }
	t.waiting = func(hs []hosts.Host) {
		fmt.Fprintf(o.IO.Err, "fairlead: %s: waiting for an approval; see fairlead approvals\n", hosts.Fold(targets.Labels(hs)))
	}
	return t
}

func (t *there) run(ctx context.Context, hs []hosts.Host, cmd session.Command, done func(hostEnd)) error {
	in := t.request
	in.ID, in.Reason, in.Keep = cmd.Group, cmd.Reason, cmd.Keep
	in.SetCommand(cmd.Script)
	t.answers(&in, targets.Labels(hs))
	for _, h := range hs {
		in.Hosts, in.Sums = append(in.Hosts, targets.Asked(h)), append(in.Sums, wire.Sum(h))
	}
	if cmd.Timeout > 0 {
		s := cmd.Timeout.Seconds()
		in.TimeoutS = &s
	}
	if cmd.Idle > 0 {
		s := cmd.Idle.Seconds()
		in.IdleS = &s
	}
	begun, ended := make([]bool, len(hs)), make([]bool, len(hs))
	_, err := t.keeper.RunFleet(ctx, in, client.Fleet{
		Begin: func(i int) (stdout, stderr io.Writer) {
			if i < 0 || i >= len(hs) || begun[i] {
				return nil, nil // its result is refused
			}
			begun[i] = true
			return cmd.Streams(hs[i])
		},
		Stdin: func(i int) io.Reader {
			if cmd.Stdins != nil {
				return cmd.Stdins(hs[i])
			}
			return cmd.Stdin
		},
		Done: func(i int, w *wire.RunResult) error {
			if i < 0 || i >= len(hs) || ended[i] {
				return errors.New("client: the keeper tells of a host that nobody asked for")
			}
			r, err := place.ResultOf(&w.RunEnd)
			if err != nil {
				return err
			}
			if r.Command == "" {
				r.Command = cmd.Script
			}
			ended[i] = true
			done(hostEnd{hs[i], r, redact.Counts{Kinds: w.Taken}})
			return nil
		},
		Waiting: func() { t.waiting(hs) },
	})
	switch {
	case err == nil:
		return nil
	case t.back != nil && t.back(err):
		return err
	}
	for i, h := range hs {
		if ended[i] {
			continue
		}
		r := place.NotStarted(h.Name, cmd.Script)
		if ctx.Err() == nil || !errors.Is(err, context.Cause(ctx)) {
			var rerr error
			if r, rerr = place.Refused(err, h.Name, cmd.Script, begun[i]); rerr != nil {
				return rerr
			}
		}
		done(hostEnd{host: h, result: r})
	}
	return nil
}

// either runs commands in the keeper, and from here what is refused, for the record, and what the keeper cannot do and this
// process may.
type either struct {
	*there
	here   *here
	place  place.Chooser
	judged *consent.Verdict
	tell   io.Writer
}

func (e *either) run(ctx context.Context, hs []hosts.Host, cmd session.Command, done func(hostEnd)) error {
	var refused, rest []hosts.Host
	for _, h := range hs {
		if e.judged.Refusal(h) != nil {
			refused = append(refused, h)
		} else {
			rest = append(rest, h)
		}
	}
	if len(refused) > 0 {
		if err := e.here.run(ctx, refused, cmd, done); err != nil || len(rest) == 0 {
			return err
		}
	}
	e.there.back = func(err error) bool { return e.place.Auto() && place.Elsewise(err) }
	var again []hosts.Host
	err := e.there.run(ctx, rest, cmd, func(end hostEnd) {
		if e.place.Locked(end.result) {
			again = append(again, end.host)
			return
		}
		done(end)
	})
	switch {
	case err != nil && e.there.back(err):
		fmt.Fprintf(e.tell, "fairlead: going on without a keeper: %s\n", cmdutil.OneLine(cmdutil.Text(err)))
		again = rest
	case err != nil:
		return err
	}
	if len(again) == 0 {
		return nil
	}
	return e.here.run(ctx, again, cmd, done)
}

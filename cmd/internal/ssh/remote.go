package ssh

import (
	"context"
	"errors"
	"fmt"

	"github.com/fairlead-ssh/fairlead/cmd/internal/consent"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/pipe"
	"github.com/fairlead-ssh/fairlead/cmd/internal/place"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
)

// lostForward is the end of a port of -R.
type lostForward struct{ error }

// remote has the host listen, in the keeper or from here, until the returned function is called. A port that was allocated is told.
func (r *runner) remote(ctx context.Context, h hosts.Host, f hosts.Forward) (end func(), err error) {
	judged, err := r.judge(ctx, h, pipe.ForwardScript(f))
	if err != nil {
		return nil, err
	}
	got, end, err := r.remoteOf(ctx, h, f, judged)
	if err != nil {
		return nil, named(h, err)
	}
	if f.Port == 0 && !hosts.IsSocket(f.Bind) {
		fmt.Fprintf(r.says, "fairlead: ssh: %s: port %d is allocated on %s\n", f, got.Port, h.Name)
	}
	return end, nil
}

func (r *runner) remoteOf(ctx context.Context, h hosts.Host, f hosts.Forward, judged *consent.Verdict) (hosts.Forward, func(), error) {
	chooser := place.NewChooser(r.f)
	keeper, err := chooser.For(ctx, []hosts.Host{h})
	if err != nil {
		return f, nil, err
	}
	if keeper != nil && !judged.Refused() {
		defer keeper.Close()
		held, err := r.remoteThere(ctx, keeper, h, f, judged)
		var problem *wire.Problem
		switch {
		case err == nil:
			over := make(chan struct{})
			go func() { // ends with the connection to the keeper
				defer close(over)
				r.gone(ctx, h, f, held.Wait(r.told))
			}()
			return held.Forwarding(), func() { held.Close(); <-over }, nil
		case chooser.Auto() && place.Elsewise(err), errors.As(err, &problem) && chooser.Locked(session.Result{Status: session.Status(problem.Code)}):
		default:
			return f, nil, err
		}
	}
	judged.Count()
	sink, err := r.sink()
	if err != nil {
		return f, nil, err
	}
	w, err := pipe.OpenForward(ctx, pipe.Config{
		Sink: sink, Principal: r.f.Caller().Principal, Decide: judged.Decide, Lend: r.lends.Lend,
	}, h, f, judged.Reason, r.caller(), r.told)
	if err != nil {
		return f, nil, err
	}
	over := make(chan struct{})
	go func() { // ends with the forward
		defer close(over)
		<-w.Done()
		r.gone(ctx, h, f, w.Why())
	}()
	return w.Forwarding(), func() { w.Close(); <-over }, nil
}

// gone tells that a port of -R is gone before the call ends, which ends one that only forwards.
func (r *runner) gone(ctx context.Context, h hosts.Host, f hosts.Forward, why error) {
	if ctx.Err() != nil || why == nil {
		return
	}
	lost := &lostForward{named(h, fmt.Errorf("%s: %w", f, why))}
	if r.c.noCommand {
		r.lost(lost)
		return
	}
	r.told(lost)
}

// remoteThere begins in the keeper.
func (r *runner) remoteThere(ctx context.Context, keeper *client.Client, h hosts.Host, f hosts.Forward, judged *consent.Verdict) (*pipe.Held, error) {
	var said wire.NewRun
	place.Answers(&said, r.f.Caller(), false, judged, []string{h.Name})
	conn, err := keeper.Streams(ctx)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	held, err := pipe.NewHeld(conn, pipe.Request{
		Target: targets.Asked(h), Sum: wire.Sum(h), Ask: pipe.Ask{Caller: r.caller()}, Forward: &f, Reason: judged.Reason,
		Confirm: said.Confirm, BreakGlass: said.BreakGlass, Answered: said.Answered,
	})
	if !stop() && err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return held, nil
}

package filework

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/files"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

// Options say how a Request is run.
type Options struct {
	Reason  string        // reason, shown to approvers and recorded in the audit log
	Timeout time.Duration // how long it may take; zero means ten minutes, or two for a list
	Wait    time.Duration // how long the caller waits for an answer; negative means as long as it takes

	// Starting bounds each of the two steps before anything is done: looking, and connecting, judging and recording. Nil
	// bounds them with the context of Start alone.
	Starting func(ctx context.Context) (context.Context, func())
}

// maxAsked is how many bytes a change may have that needs approval: what a person is shown has a limit (approval.MaxDocument).
const maxAsked = 200 << 10

// Start looks where the path of r leads, has r judged for that, and starts it in a session. The Exec may wait for an
// approval, or have failed. The error is for what never became a command, and for what would fail in any case.
func Start(ctx context.Context, e *registry.Entry, r Request, o Options) (*registry.Exec, *Work, error) {
	if o.Starting == nil {
		o.Starting = func(ctx context.Context) (context.Context, func()) { return ctx, func() {} }
	}
	if err := r.Check(); err != nil {
		return nil, nil, err
	}
	host := newPatience(o.Wait)
	seen, err := lookAt(ctx, e, r, host, o)
	if err != nil {
		return nil, nil, err
	}
	w := &Work{req: r, path: seen.Path, seen: seen, patience: host}
	if err := w.check(); err != nil {
		return nil, nil, err
	}
	script, err := w.script()
	if err != nil {
		return nil, nil, err
	}
	cmd := registry.Command{Script: script, Action: w, Reason: o.Reason, Timeout: cmp.Or(o.Timeout, workWithin)}
	if r.Op == List {
		cmd.Timeout = min(cmd.Timeout, listWithin)
	}
	if n := len(r.Content) + len(r.Old) + len(r.New); n > maxAsked && e.Session().Verdict(ctx, script, true) == policy.Ask {
		return nil, nil, fault(files.CodeTooLarge, "%s: a change of %d bytes needs approval, and %d bytes are the most that a person can look through: split it", w.path, n, maxAsked)
	}
	if err := precheck(ctx, e, w, cmd, o); err != nil {
		return nil, nil, err
	}
	ctx, stop := o.Starting(ctx)
	defer stop()
	x, err := e.Start(ctx, cmd)
	w.left.Store(true)
	if x != nil {
		go w.forget(x.Done()) // what has ended is kept for a while, and need not keep contents
	}
	return x, w, err
}

// precheck returns why an edit, or a write of a known file, would fail as the file is now, before a person is asked to approve
// it. It needs that reading the file is allowed.
func precheck(ctx context.Context, e *registry.Entry, w *Work, cmd registry.Command, o Options) error {
	if w.req.Op != Edit && w.req.IfSHA256 == "" || e.Session().Verdict(ctx, cmd.Script, true) != policy.Ask {
		return nil
	}
	c := &Work{req: Request{Op: check, Old: w.req.Old, IfSHA256: w.req.IfSHA256}, path: w.path, seen: w.seen, patience: w.patience}
	script, err := c.script()
	if err != nil || e.Session().Verdict(ctx, script, true) != policy.Allow {
		return err
	}
	ctx, stop := o.Starting(ctx)
	defer stop()
	x, err := e.Start(ctx, registry.Command{Script: script, Action: c, Reason: o.Reason, Timeout: lookWithin})
	if err != nil {
		return err
	}
	_, err = w.ended(ctx, x)
	return err
}

// ended waits for work that nobody else waits for, and returns its error. What is not done in time is stopped.
func (w *Work) ended(ctx context.Context, x *registry.Exec) (registry.View, error) {
	bound, stop := w.patience.bound(ctx)
	defer stop()
	if err := x.Wait(bound); err != nil {
		soon, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer stop()
		go x.Stop() // a server may take its time for that, too
		_ = x.Wait(soon)
		if ctx.Err() != nil {
			return registry.View{}, &session.Error{Op: "file", Code: "canceled", Retriable: true, Err: fmt.Errorf("it was stopped before it began: %w", err)}
		}
		return registry.View{}, w.patience.over()
	}
	v, err := x.View(registry.Budgets{})
	if err == nil && v.Result.Err != nil {
		err = v.Result.Err
	}
	return v, err
}

// lookAt finds out where a path leads. It passes the gate by itself, as what only reads.
func lookAt(ctx context.Context, e *registry.Entry, r Request, host *patience, o Options) (files.Info, error) {
	w := &Work{req: Request{Op: look}, path: r.Path, patience: host}
	if !r.Home {
		w.dir = e.Dir()
	}
	script, err := w.script()
	if err != nil {
		return files.Info{}, err
	}
	ctx, stop := o.Starting(ctx)
	defer stop()
	x, err := e.Start(ctx, registry.Command{Script: script, Action: w, Reason: o.Reason, Timeout: lookWithin})
	if err != nil {
		return files.Info{}, err
	}
	v, err := x.View(registry.Budgets{})
	if err != nil {
		return files.Info{}, err
	}
	if v.Result.Decision.Verdict == policy.Ask && v.Result.State != session.Done { // it waits, or is about to
		x.Stop()
		return files.Info{}, fault("denied", "the policy does not allow resolving paths on %s without approval, so files there are not available", e.Host().Name)
	}
	if _, err := w.ended(ctx, x); err != nil {
		return files.Info{}, err
	}
	return w.result(), nil
}

// check refuses what would fail, before anybody is asked about it.
func (w *Work) check() error {
	code, why := "", ""
	switch k, op := w.seen.Kind, w.req.Op; {
	case op == List && k == files.None:
		code, why = files.CodeNotFound, "there is no such directory"
	case op == List && k != files.Directory:
		code, why = files.CodeInvalid, "it is not a directory"
	case op == List:
		return nil
	case k == files.Directory:
		code, why = files.CodeDirectory, "it is a directory"
	case k == files.Special:
		code, why = files.CodeSpecial, "it is a device, a FIFO or a socket"
	case k == files.None && op != Write:
		code, why = files.CodeNotFound, "there is no such file"
	case k == files.None && w.req.IfSHA256 != "":
		code, why = files.CodeConflict, "there is no such file, and if_sha256 says what should be in it"
	case k != files.None && w.req.IfNew:
		code, why = files.CodeConflict, "there is a file already"
	case op != Write && w.seen.Size > MaxFile:
		return fault(files.CodeTooLarge, "%s: it has %d bytes, and %d are the limit: use a command (head, tail, grep, sed)", w.seen.Target, w.seen.Size, MaxFile)
	default:
		return nil
	}
	return fault(code, "%s: %s", w.seen.Target, why)
}

package rollout

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/become"
	"github.com/fairlead-ssh/fairlead/session/id"
)

// The time between two attempts to connect.
const (
	firstPause = time.Second
	maxPause   = 30 * time.Second
)

// Run rolls cmd out. It returns when every host has its Result, which Plan.Result has been told. cmd.Forks is how many
// hosts run at a time; zero means session.DefaultForks. The error is one of the Plan: nothing was sent then.
//
// The functions of the Plan are called one at a time, from the goroutine of Run.
func (p Plan) Run(ctx context.Context, on Runner, hs []hosts.Host, cmd session.Command) (Report, error) {
	batches, err := p.Split(hs)
	if err != nil {
		return Report{}, err
	}
	for _, c := range []*session.Command{&cmd, p.Verify} {
		if c != nil && c.Stdin != nil && c.Stdins == nil && len(hs) > 1 {
			return Report{}, errOneInput
		}
	}
	if cmd.Group == "" && len(hs) > 1 {
		cmd.Group = id.New("g_")
	}
	x := &run{Plan: p, on: on, cmd: cmd, all: len(hs), report: Report{Batches: batches}, began: time.Now()}
	if p.Deadline > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, p.Deadline, ErrDeadline)
		defer cancel()
	}
	ctx, forget := become.InRun(ctx, len(hs)) // a password is asked for once, and not once for each batch
	defer forget()
	for i := range batches {
		if i > 0 && x.report.Reason == "" {
			x.confirm(ctx)
		}
		x.batch(ctx, &batches[i])
	}
	if b := x.over; b != nil { // what ran then may have failed since
		x.report.Why = x.exceeded(b)
	}
	x.report.Took = time.Since(x.began)
	return x.report, nil
}

// errOneInput keeps hosts from getting a part each of one input.
var errOneInput = errors.New("Command.Stdin is the input of one host: several get theirs from Command.Stdins")

// run is one run of a Plan.
type run struct {
	Plan
	on     Runner
	cmd    session.Command
	all    int
	failed int
	began  time.Time
	report Report
	over   *Batch // in which the limit was exceeded that stopped the run; nil else
}

// confirm asks before the next batch.
func (x *run) confirm(ctx context.Context) {
	if x.Confirm == nil || ctx.Err() != nil {
		return
	}
	so := x.report
	so.Batches = append([]Batch(nil), so.Batches...)
	so.Took = time.Since(x.began)
	if err := x.Confirm(ctx, so); err != nil && ctx.Err() == nil {
		x.stop(Declined, err.Error())
	}
}

// stop keeps what has not begun from beginning. The first reason stays.
func (x *run) stop(why Reason, words string) {
	if x.report.Reason == "" {
		x.report.Reason, x.report.Why = why, words
	}
}

// ended takes the end of the context as the reason.
func (x *run) ended(ctx context.Context) {
	switch {
	case ctx.Err() == nil:
	case errors.Is(context.Cause(ctx), ErrDeadline):
		x.stop(Deadline, fmt.Sprintf("the deadline of the run, %v, passed", x.Deadline))
	default:
		x.stop(Canceled, context.Cause(ctx).Error())
	}
}

// batch runs one batch, and verifies it.
func (x *run) batch(ctx context.Context, b *Batch) {
	if x.ended(ctx); x.report.Reason == "" && x.Begin != nil {
		x.Begin(*b)
	}
	x.each(ctx, b.Hosts, x.cmd, x.Retry, func() bool { return x.report.Reason != "" }, func(h hosts.Host, r session.Result) {
		if r.Status != session.StatusOK {
			x.ended(ctx) // before the limits: it is the cause
		}
		switch {
		case r.Status == session.StatusOK:
			b.OK = append(b.OK, h)
		case r.Status == session.StatusCanceled && (r.Err == nil || !r.Err.Sent):
			b.NotRun = append(b.NotRun, h)
		default:
			x.fail(b, h)
		}
		if x.Result != nil {
			x.Result(h, r)
		}
	})
	if x.Verify != nil && !x.ending() {
		x.verify(ctx, b)
	}
	if x.report.Reason == "" {
		x.report.Done++
	}
}

// ending reports whether nothing more runs, also no check. A limit only keeps the command from further hosts: those that got it are
// checked all the same.
func (x *run) ending() bool { return x.report.Reason == Canceled || x.report.Reason == Deadline }

// fail counts a host that has failed, and checks the limits.
func (x *run) fail(b *Batch, h hosts.Host) {
	b.Failed = append(b.Failed, h)
	x.failed++
	if x.report.Reason != "" {
		return
	}
	switch {
	case x.MaxFail.Exceeded(x.failed, x.all):
		x.over = b
		x.stop(MaxFail, fmt.Sprintf("more hosts failed than %s allows (%s of %d)", MaxFail, x.MaxFail, x.all))
	case x.BatchMaxFail.Exceeded(len(b.Failed), len(b.Hosts)):
		x.over = b
		x.stop(BatchMaxFail, fmt.Sprintf("more hosts of batch %d failed than %s allows (%s of %d)", b.Number, BatchMaxFail, x.BatchMaxFail, len(b.Hosts)))
	}
}

// exceeded says by how many hosts the limit is exceeded that stopped the run in b.
func (x *run) exceeded(b *Batch) string {
	if x.report.Reason == MaxFail {
		return exceeded(MaxFail, x.MaxFail, x.failed, x.all, "")
	}
	return exceeded(BatchMaxFail, x.BatchMaxFail, len(b.Failed), len(b.Hosts), fmt.Sprintf(" of batch %d", b.Number))
}

// verify runs Verify where the command succeeded.
func (x *run) verify(ctx context.Context, b *Batch) {
	cmd := *x.Verify
	cmd.Group = cmp.Or(cmd.Group, x.cmd.Group)
	cmd.Forks = cmp.Or(cmd.Forks, x.cmd.Forks)
	check := b.OK
	b.OK = nil
	x.each(ctx, check, cmd, 0, x.ending, func(h hosts.Host, r session.Result) {
		if r.Status != session.StatusOK {
			x.ended(ctx)
		}
		if r.Status == session.StatusOK || r.Status == session.StatusCanceled { // canceled says nothing against the host
			b.OK = append(b.OK, h)
		} else {
			x.fail(b, h)
		}
		if x.Verified != nil {
			x.Verified(h, r)
		}
	})
}

// hostResult is what became of a host.
type hostResult struct {
	host   hosts.Host
	result session.Result
}

// each runs a command on hosts, some at a time, until stopped says that no further host gets it, and tells each Result.
func (x *run) each(ctx context.Context, hs []hosts.Host, cmd session.Command, retry int, stopped func() bool, tell func(hosts.Host, session.Result)) {
	forks := cmd.Forks
	if forks <= 0 {
		forks = session.DefaultForks
	}
	next, results := make(chan hosts.Host), make(chan hostResult)
	var wg sync.WaitGroup
	for range min(forks, len(hs)) {
		wg.Go(func() {
			for h := range next {
				results <- hostResult{h, x.one(ctx, h, cmd, retry)}
			}
		})
	}
	// A reason to stop is known only here, so hosts are given out one by one between the Results.
	for running := 0; len(hs) > 0 || running > 0; {
		if stopped() && x.report.Reason != Canceled && len(hs) > 0 {
			h := hs[0]
			hs = hs[1:]
			tell(h, NotRun(h, cmd, x.report.Why))
			continue
		}
		var give chan hosts.Host
		var h hosts.Host
		if len(hs) > 0 && running < forks {
			give, h = next, hs[0]
		}
		select {
		case give <- h:
			hs = hs[1:]
			running++
		case r := <-results:
			running--
			tell(r.host, r.result)
		}
	}
	close(next)
	wg.Wait()
}

// one runs a command on one host, and connects again where that alone has failed.
func (x *run) one(ctx context.Context, h hosts.Host, cmd session.Command, retry int) (r session.Result) {
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		for _, r = range x.on.Each(ctx, []hosts.Host{h}, cmd) {
		}
		again := r.Status == session.StatusUnreachable && r.Err != nil && !r.Err.Sent
		if !again || retry <= 0 {
			return x.late(ctx, r)
		}
		if r.Decision.Approval != "" {
			return approvedOnce(r)
		}
		retry--
		t := time.NewTimer(pause)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return r // it was not reached, and that is the truth about it
		}
	}
}

// approvedOnce says of a command that was approved and did not get a connection why that is not tried again. The approval is
// used, and the standard input that it was for has been read to its end.
func approvedOnce(r session.Result) session.Result {
	e := *r.Err
	e.Err = fmt.Errorf("%w; not tried again, because an approval is for one attempt", e.Err)
	r.Err = &e
	return r
}

// late makes of what the deadline stopped a timeout.
func (x *run) late(ctx context.Context, r session.Result) session.Result {
	if r.Status != session.StatusCanceled || r.Err == nil || ctx.Err() == nil || !errors.Is(context.Cause(ctx), ErrDeadline) {
		return r
	}
	e := *r.Err
	if !e.Sent {
		e.Code, e.Err = CodeNotRun, fmt.Errorf("%w: %w", ErrNotRun, ErrDeadline)
	} else {
		r.Status = session.StatusTimeout
		e.Code, e.Err = "timeout", fmt.Errorf("the command was stopped: %w (%v)", ErrDeadline, x.Deadline)
	}
	r.Err = &e
	return r
}

// NotRun is the Result of a host that gets nothing, for a reason in words.
func NotRun(h hosts.Host, cmd session.Command, why string) session.Result {
	return session.Result{Host: h.Name, Command: cmd.ScriptOn(h), State: session.Done, Status: session.StatusCanceled, Lane: "session",
		Err: &session.Error{Op: "run", Host: h.Name, Code: CodeNotRun, Retriable: true, Err: fmt.Errorf("%w: %s", ErrNotRun, why)}}
}

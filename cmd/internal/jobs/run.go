package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/consent"
	"github.com/fairlead-ssh/fairlead/cmd/internal/exitcode"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/place"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/jobs"
	"github.com/fairlead-ssh/fairlead/session/jobwork"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

// longWait is how long one request waits for something new.
const longWait = 45 * time.Second

// start judges, starts, and prints the job's name.
func start(ctx context.Context, o *Options) error {
	hs, err := (&targets.Resolver{Inventory: o.Inventory, In: o.IO.In, Reach: o.Reach}).Resolve(o.Target, "")
	switch {
	case err != nil:
		return &cmdutil.UsageError{Err: err}
	}
	if err := o.fill(hs); err != nil {
		return err
	}
	if len(hs) > 1 {
		return startAll(ctx, o, hs)
	}
	h := hs[0]
	c, err := o.Place.For(ctx, []hosts.Host{h})
	if err != nil {
		return err
	}
	if c != nil {
		defer c.Close()
	}
	judge := consent.Judge{
		IO: o.IO, Caller: o.Caller(), Policy: o.Policy, Terminal: o.Terminal, Yes: o.Yes, Reason: o.Reason, Approvable: c != nil, Job: true,
	}
	judge.TellAgent()
	judged, err := judge.Decide(ctx, o.Script, []hosts.Host{h})
	if err != nil {
		return err
	}
	o.Reason, o.id = judged.Reason, jobs.NewID()
	defer o.Running.Track(func() []string { return []string{h.Name} })()
	if c == nil || judged.Refused() { // what was refused goes nowhere, and is put on record from here
		l, err := o.local(judged)
		if err != nil {
			return err
		}
		defer l.close()
		j, err := l.start(ctx, h)
		if err != nil {
			return o.startFailed(ctx, h, err)
		}
		return o.show(j)
	}
	j, err := o.startThere(ctx, c, h, judged)
	if err != nil {
		return o.startFailed(ctx, h, err)
	}
	return o.show(j)
}

// startThere has the keeper start the job, and waits for an approval if it takes one. ^C takes the question back.
func (o *Options) startThere(ctx context.Context, c *client.Client, h hosts.Host, judged *consent.Verdict) (*wire.Job, error) {
	var said wire.NewRun
	place.Answers(&said, o.Caller(), o.Yes, judged, []string{h.Name})
	j, err := c.StartJob(ctx, wire.NewJob{
		ID: o.id, Host: targets.Asked(h), Command: o.Script, CWD: o.CWD, Reason: o.Reason, Confirm: said.Confirm, BreakGlass: said.BreakGlass,
	}, "")
	if err != nil {
		return nil, err
	}
	if j.State == string(jobwork.Awaiting) {
		fmt.Fprintf(o.IO.Err, "fairlead: %s: waiting for an approval; see fairlead approvals\n", h.Name)
	}
	for j.State == string(jobwork.Awaiting) || j.State == string(jobwork.Starting) {
		next, err := c.Job(ctx, j.ID, longWait, o.Reason)
		if err != nil && ctx.Err() != nil {
			bctx, stop := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
			_, _ = c.StopJob(bctx, j.ID, wire.StopJob{}) // what is not known then is on the host, under its name
			stop()
			fmt.Fprintf(o.IO.Err, "fairlead: %s: not started, or stopped: %s\n", h.Name, j.ID)
		}
		if err != nil {
			return nil, err
		}
		j = next
	}
	return j, nil
}

// startFailed says why there is no job, or that there may be one: where the keeper or the connection went away meanwhile.
func (o *Options) startFailed(ctx context.Context, h hosts.Host, err error) error {
	var p *wire.Problem
	lost := errors.Is(err, client.ErrUnreachable) || errors.Is(err, session.ErrUnknownOutcome) || errors.As(err, &p) && p.Code == "lost"
	if !lost || context.Cause(ctx) != nil {
		return o.failed(ctx, h.Name, err)
	}
	why := "the connection went away"
	if errors.Is(err, client.ErrUnreachable) {
		why = "the keeper went away"
	}
	return mayRun(o.IO.Err, h.Name, jobs.Ref{Host: targets.Asked(h), ID: o.id}, why)
}

// show prints a job, or its name.
func (o *Options) show(j *wire.Job) error {
	if o.JSON {
		return json.NewEncoder(o.IO.Out).Encode(j)
	}
	_, err := fmt.Fprintln(o.IO.Out, j.ID)
	return err
}

func output(ctx context.Context, o *Options) error {
	if g, err := o.members(ctx); err != nil || g != nil {
		if err != nil {
			return err
		}
		tell := func(string, *wire.Job) error { return nil }
		if o.Follow {
			tell = nil
		}
		return o.ofAll(ctx, g, tell, func(ctx context.Context, s site, j *wire.Job, out, errw io.Writer) (*wire.Job, error) {
			return o.print(ctx, s, j.ID, out, errw)
		}, nil)
	}
	if o.Fold {
		return cmdutil.Usagef("--fold is for a job on several hosts: TARGETS/ID")
	}
	s, id, host, err := o.find(ctx)
	if err != nil {
		return err
	}
	if o.Follow {
		s = &followed{site: s, o: o, host: host}
	}
	defer func() { s.close() }()
	j, err := o.print(ctx, s, id, o.IO.Out, o.IO.Err)
	switch {
	case err != nil && o.Follow && ctx.Err() != nil:
		fmt.Fprintf(o.IO.Err, "fairlead: %s is still running\n", o.Target)
		return o.failed(ctx, host, err)
	case err != nil:
		return o.failed(ctx, host, err)
	case o.Follow:
		return o.ended(host, j)
	}
	return nil
}

// print shows what a job has printed: all until now, or until its end.
func (o *Options) print(ctx context.Context, s site, id string, out, errw io.Writer) (*wire.Job, error) {
	var at [2]int64
	var over [2]bool
	var wait time.Duration
	for {
		var j *wire.Job
		came, state := false, "" // before anything of this round was read: what a job prints at its end may come between two reads
		for i, stream := range []string{registry.Stdout, registry.Stderr} {
			if over[i] {
				continue
			}
			p, err := s.output(ctx, id, stream, at[i], wait)
			if err != nil {
				return nil, err
			}
			wait = 0
			text, err := wire.Decode(p.Encoding, p.Data)
			if err != nil {
				return nil, fmt.Errorf("client: the keeper's answer cannot be understood: %w", err)
			}
			if _, err := []io.Writer{out, errw}[i].Write(text); err != nil {
				return nil, err
			}
			j, at[i], over[i], came, state = &p.Job, p.Next, p.End, came || len(text) > 0, cmp.Or(state, p.Job.State)
		}
		if j == nil { // both have ended, and it has not
			var err error
			if j, err = s.job(ctx, id, wait); err != nil {
				return nil, err
			}
			state = j.State
		}
		switch {
		case came:
		case !o.Follow, state == string(jobs.Ended), state == string(jobs.Lost), state == string(jobwork.Canceled):
			return j, nil
		default:
			wait = longWait
		}
	}
}

// ended tells how a job has ended, and makes an exit code of that.
func (o *Options) ended(host string, j *wire.Job) error {
	for _, stream := range []string{registry.Stdout, registry.Stderr} {
		if n := j.Omitted[stream]; n > 0 {
			fmt.Fprintf(o.IO.Err, "fairlead: %s: %d more bytes of %s were thrown away\n", host, n, stream)
		}
	}
	if j.MayRun {
		fmt.Fprintf(o.IO.Err, "fairlead: %s: something that it has started may still run\n", host)
	}
	if j.Damaged != "" {
		fmt.Fprintf(o.IO.Err, "fairlead: %s: the job's files on the host are damaged (a full disk may have emptied them): %s\n", host, j.Damaged)
	}
	switch {
	case j.State == string(jobs.Lost):
		fmt.Fprintf(o.IO.Err, "fairlead: %s: outcome unknown: the job ended and left no exit code\n", host)
		return cmdutil.Exit(exitcode.Unknown)
	case j.State == string(jobwork.Canceled):
		fmt.Fprintf(o.IO.Err, "fairlead: %s: not run\n", host)
		return cmdutil.Exit(exitcode.Interrupted)
	case j.ExitCode == nil && j.State == string(jobs.Ended):
		fmt.Fprintf(o.IO.Err, "fairlead: %s: outcome unknown: the job has ended, and its exit code was not kept\n", host)
		return cmdutil.Exit(exitcode.Unknown)
	case j.ExitCode == nil:
		return nil
	}
	if j.Signal != "" {
		fmt.Fprintf(o.IO.Err, "fairlead: %s: killed by SIG%s\n", host, j.Signal)
	}
	return cmdutil.Exit(min(*j.ExitCode, 255))
}

func stop(ctx context.Context, o *Options) error {
	if o.Grace < 0 || o.Grace > 30*time.Second {
		return cmdutil.Usagef("--grace is 0 to 30s")
	}
	if g, err := o.members(ctx); err != nil || g != nil {
		if err != nil {
			return err
		}
		return o.ofAll(ctx, g, o.stopped, func(ctx context.Context, s site, j *wire.Job, _, _ io.Writer) (*wire.Job, error) {
			return s.stop(ctx, j.ID, o.Grace)
		}, nil)
	}
	s, id, host, err := o.find(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	j, err := s.stop(ctx, id, o.Grace)
	if err != nil {
		return o.failed(ctx, host, err)
	}
	if o.JSON {
		err = json.NewEncoder(o.IO.Out).Encode(j)
	}
	if serr := o.stopped(host, j); serr != nil {
		return serr
	}
	return err
}

// stopped tells how a job is that was to be stopped.
func (o *Options) stopped(host string, j *wire.Job) error {
	what := j.State
	if j.ExitCode != nil {
		what += ", exit " + strconv.Itoa(*j.ExitCode)
	}
	if j.StoppedBy != "" {
		what += ", stopped by SIG" + j.StoppedBy
	}
	if j.MayRun {
		what += "; something that it has started may still run"
	}
	fmt.Fprintf(o.IO.Err, "fairlead: %s: %s\n", host, what)
	if j.State == string(jobs.Running) {
		return cmdutil.Exit(exitcode.Unknown)
	}
	return nil
}

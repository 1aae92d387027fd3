package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/exitcode"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/jobs"
	"github.com/fairlead-ssh/fairlead/session/jobwork"
)

// wait waits for the end of a job, and shows nothing of its output.
func wait(ctx context.Context, o *Options) error {
	if o.Timeout < 0 {
		return cmdutil.Usagef("--timeout must not be negative")
	}
	o.Follow, o.waits = true, true
	var until time.Time
	if o.Timeout > 0 {
		until = time.Now().Add(o.Timeout)
	}
	if g, err := o.members(ctx); err != nil || g != nil {
		if err != nil {
			return err
		}
		return o.ofAll(ctx, g, nil, func(ctx context.Context, s site, j *wire.Job, _, _ io.Writer) (*wire.Job, error) {
			return awaitEnd(ctx, s, j.ID, until)
		}, nil)
	}
	s, id, host, err := o.find(ctx)
	if err != nil {
		return err
	}
	s = &followed{site: s, o: o, host: host}
	defer func() { s.close() }()
	j, err := awaitEnd(ctx, s, id, until)
	switch {
	case err != nil && ctx.Err() != nil:
		fmt.Fprintf(o.IO.Err, "fairlead: %s is still running\n", o.Target)
		return o.failed(ctx, host, err)
	case err != nil:
		return o.failed(ctx, host, err)
	case o.JSON:
		if err := json.NewEncoder(o.IO.Out).Encode(j); err != nil {
			return err
		}
	}
	return o.waited(host, j)
}

// awaitEnd returns a job that has ended, or that runs at until; a zero until is never.
func awaitEnd(ctx context.Context, s site, id string, until time.Time) (*wire.Job, error) {
	for {
		patience := longWait
		if !until.IsZero() {
			patience = min(longWait, max(0, time.Until(until)))
		}
		j, err := s.job(ctx, id, patience)
		if err != nil || isOver(j) || !until.IsZero() && !time.Now().Before(until) {
			return j, err
		}
	}
}

// isOver reports whether a job will not run any more.
func isOver(j *wire.Job) bool {
	return j.State == string(jobs.Ended) || j.State == string(jobs.Lost) || j.State == string(jobwork.Canceled)
}

// waited is ended for a job that may run still.
func (o *Options) waited(host string, j *wire.Job) error {
	if isOver(j) {
		return o.ended(host, j)
	}
	fmt.Fprintf(o.IO.Err, "fairlead: %s: the job has not ended after %v, and still runs\n", host, o.Timeout)
	return cmdutil.Exit(exitcode.Unknown)
}

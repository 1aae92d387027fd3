package jobs

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/exitcode"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/jobs"
)

// collect prints the output of a job, and then takes the job off its host: what could not be written is still there.
func collect(ctx context.Context, o *Options) error {
	if g, err := o.members(ctx); err != nil || g != nil {
		if err != nil {
			return err
		}
		return o.unprinted(o.collectAll(ctx, g))
	}
	if o.OutDir != "" {
		return cmdutil.Usagef("--out-dir is for a job on several hosts: fairlead jobs collect TARGETS/ID")
	}
	s, id, host, err := o.find(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	return o.unprinted(o.collectOne(ctx, s, id, host))
}

func (o *Options) collectOne(ctx context.Context, s site, id, host string) error {
	if o.Stop {
		if _, err := s.stop(ctx, id, jobs.DefaultGrace); err != nil {
			return o.failed(ctx, host, err)
		}
	}
	j, err := s.job(ctx, id, 0)
	if err != nil {
		return o.failed(ctx, host, err)
	}
	if j.State != string(jobs.Ended) && j.State != string(jobs.Lost) {
		return cmdutil.Usagef("%s: the job has not ended: fairlead jobs follow waits for its end, and --stop stops it first", host)
	}
	if o.JSON {
		err = json.NewEncoder(o.IO.Out).Encode(j)
	} else {
		_, err = o.print(ctx, s, id, o.IO.Out, o.IO.Err)
	}
	if err != nil {
		return o.failed(ctx, host, err)
	}
	if j, err = s.collect(ctx, id); err != nil {
		return o.failed(ctx, host, err)
	}
	return o.ended(host, j)
}

// collectAll collects a group. While one of its jobs runs nothing is collected, unless they are to be stopped.
func (o *Options) collectAll(ctx context.Context, g *group) error {
	var running []string
	for _, j := range g.all {
		if j.State == string(jobs.Running) {
			running = append(running, j.Host)
		}
	}
	if len(running) > 0 && !o.Stop {
		g.site.close()
		return cmdutil.Usagef("%s: the job has not ended: fairlead jobs follow waits for its end, and --stop stops it first", hosts.Fold(running))
	}
	return o.ofAll(ctx, g, nil, o.readEnded, func(ctx context.Context, s site, j *wire.Job) (*wire.Job, error) {
		return s.collect(ctx, j.ID)
	})
}

// readEnded writes the output of a job that has ended, or that it stops.
func (o *Options) readEnded(ctx context.Context, s site, j *wire.Job, out, errw io.Writer) (now *wire.Job, err error) {
	if o.Stop && j.State == string(jobs.Running) {
		if _, err := s.stop(ctx, j.ID, jobs.DefaultGrace); err != nil {
			return nil, err
		}
	}
	if o.JSON && o.OutDir == "" {
		now, err = s.job(ctx, j.ID, 0)
	} else {
		now, err = o.print(ctx, s, j.ID, out, errw)
	}
	if err == nil && !isOver(now) {
		err = &wire.Problem{Code: jobs.CodeRunning, Detail: "the job has not ended: stop it first, or wait for its end"}
	}
	return now, err
}

// written reports an output that --out-dir could not keep.
func (o *Options) written(host string, err error) error {
	if err == nil {
		return nil
	}
	fmt.Fprintf(o.IO.Err, "fairlead: %s: Fairlead cannot write the output, and leaves the job on the host: %s\n", host, cmdutil.Text(err))
	return cmdutil.Exit(exitcode.Internal)
}

// unprinted is err, or says what became of jobs whose output could not be printed.
func (o *Options) unprinted(err error) error {
	if werr := o.IO.Out.Err(); werr != nil {
		return fmt.Errorf("cannot write to standard output: %w. A job stays on its host until all its output is printed", werr)
	}
	return err
}

package jobs

import (
	"context"
	"encoding/json"
	"io"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/jobs"
)

// collect prints the output of a job, and takes the job off its host.
func collect(ctx context.Context, o *Options) error {
	if g, err := o.members(ctx); err != nil || g != nil {
		if err != nil {
			return err
		}
		return o.collectAll(ctx, g)
	}
	if o.OutDir != "" {
		return cmdutil.Usagef("--out-dir is for a job on several hosts: fairlead jobs collect TARGETS/ID")
	}
	s, id, host, err := o.find(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	return o.collectOne(ctx, s, id, host)
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
	if !o.JSON {
		if _, err := o.print(ctx, s, id, o.IO.Out, o.IO.Err); err != nil {
			return o.failed(ctx, host, err)
		}
	}
	if j, err = s.collect(ctx, id); err != nil {
		return o.failed(ctx, host, err)
	}
	if o.JSON {
		if err := json.NewEncoder(o.IO.Out).Encode(j); err != nil {
			return err
		}
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
	return o.ofAll(ctx, g, nil, func(ctx context.Context, s site, j *wire.Job, out, errw io.Writer) (*wire.Job, error) {
		if o.Stop && j.State == string(jobs.Running) {
			if _, err := s.stop(ctx, j.ID, jobs.DefaultGrace); err != nil {
				return nil, err
			}
		}
		if !o.JSON || o.OutDir != "" {
			if _, err := o.print(ctx, s, j.ID, out, errw); err != nil {
				return nil, err
			}
		}
		return s.collect(ctx, j.ID)
	})
}

package jobs

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/session/jobs"
)

// clean removes jobs that have ended from their hosts, with their output.
func clean(ctx context.Context, o *Options) error {
	if o.Older < 0 {
		return cmdutil.Usagef("--older must not be negative")
	}
	found, err := o.jobs(ctx, "")
	if err != nil {
		return err
	}
	var codes tally
	for _, f := range found.Failed {
		codes.add(o.failed(ctx, f.Host, &wire.Problem{Code: f.Code, Detail: f.Detail}))
	}
	var old []wire.Job
	seen := map[string]bool{} // hosts that share a home directory all have a job
	for _, j := range found.Items {
		_, id, _ := strings.Cut(j.ID, "/")
		if o.cleans(&j) && !seen[id] {
			seen[id] = true
			old = append(old, j)
		}
	}
	if len(old) == 0 || o.DryRun {
		for i := range old {
			codes.add(o.show(&old[i]))
		}
		return codes.exit()
	}
	s, err := o.reach(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	var mu sync.Mutex // guards the output and codes
	forEach(len(old), func(i int) {
		j := &old[i]
		_, err := s.discard(ctx, j.ID)
		mu.Lock()
		defer mu.Unlock()
		if err != nil {
			codes.add(o.failed(ctx, j.Host, err))
			return
		}
		codes.add(o.show(j))
	})
	return codes.exit()
}

// cleans reports whether clean removes a job.
func (o *Options) cleans(j *wire.Job) bool {
	if j.State != string(jobs.Ended) && j.State != string(jobs.Lost) || j.Owner != o.Caller().Principal && !o.Agents {
		return false
	}
	age := j.AgeS
	if j.Started != nil && j.Ended != nil {
		age -= j.Ended.Sub(*j.Started).Seconds()
	}
	return time.Duration(age*float64(time.Second)) >= o.Older
}

// reach returns what reaches the jobs that o.jobs has listed.
func (o *Options) reach(ctx context.Context) (site, error) {
	if o.Target == "" {
		c, err := o.running(ctx)
		if err != nil {
			return nil, err
		}
		return there{c, o.Reason}, nil
	}
	all := targets.Resolver{Inventory: o.Inventory, In: o.IO.In, Reach: o.Reach}
	hs, err := all.Resolve(o.Target, "")
	if err != nil {
		return nil, &cmdutil.UsageError{Err: err}
	}
	c, err := o.Place.For(ctx, hs)
	switch {
	case err != nil:
		return nil, err
	case c != nil:
		return there{c, o.Reason}, nil
	}
	return o.local(nil)
}

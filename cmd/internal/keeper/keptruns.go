package keeper

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/runstore"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
)

type keptRunsIn struct {
	Limit int `query:"limit" minimum:"1" maximum:"200" default:"20" doc:"at most so many"`
}

type keptRunIn struct {
	ID string `path:"id" maxLength:"80" doc:"of a run of one's own"`
}

func (k *Keeper) addKeptRuns(a *api) {
	add(a, route{method: "GET", path: runsPath, id: "list-runs", tag: "runs", need: access.NeedSee, summary: "One's runs on many hosts, the newest first, without their hosts"},
		func(_ context.Context, c *access.Caller, in *keptRunsIn) (*body[wire.KeptRuns], error) {
			out := &wire.KeptRuns{Items: []wire.KeptRun{}}
			if k.cfg.Runs == nil {
				return &body[wire.KeptRuns]{out}, nil
			}
			all, err := k.cfg.Runs.List(c.Principal)
			if err != nil {
				return nil, err
			}
			for _, r := range all[:min(in.Limit, len(all))] {
				item := keptRun(r)
				item.Hosts = nil
				out.Items = append(out.Items, item)
			}
			return &body[wire.KeptRuns]{out}, nil
		})
	add(a, route{method: "GET", path: runsPath + "/{id}", id: "get-run", tag: "runs", need: access.NeedSee, summary: "How a run on many hosts has ended, or is going"},
		func(_ context.Context, c *access.Caller, in *keptRunIn) (*body[wire.KeptRun], error) {
			if k.cfg.Runs == nil {
				return nil, problem.NotFound("run", in.ID)
			}
			r, err := k.cfg.Runs.Get(c.Principal, in.ID)
			if errors.Is(err, runstore.ErrNotFound) {
				return nil, problem.NotFound("run", in.ID)
			}
			if err != nil {
				return nil, err
			}
			out := keptRun(r)
			return &body[wire.KeptRun]{&out}, nil
		})
}

func keptRun(r *runstore.Record) wire.KeptRun {
	out := wire.KeptRun{ID: r.ID, State: r.State, Started: r.Started, Targets: r.Targets, Command: r.Command, Exact: r.Exact}
	if f := r.Finish; f != nil {
		out.Ended, out.Rollout = &f.Ended, f.Rollout
		if r.PID != 0 {
			out.ExitCode = &f.ExitCode
		}
	}
	for _, x := range r.Outcomes() {
		switch {
		case x.Status == session.StatusOK:
			out.OK++
		case x.NotRun:
			out.NotRun++
		case x.Status != "":
			out.Failed++
		}
		out.Hosts = append(out.Hosts, wire.KeptHost{Host: x.End.Host, Status: string(x.Status), ExitCode: x.ExitCode, Why: x.Why, NotRun: x.NotRun, Verify: x.Verify})
	}
	return out
}

// keep begins to keep the run, if its caller wants that; nil where it is not kept.
func (x *fleet) keep() *runstore.Writer {
	if x.k.cfg.Runs == nil || !x.in.KeepRun {
		return nil
	}
	r := runstore.Run{ID: x.in.ID, Principal: x.c.Principal, Started: time.Now(), Targets: x.in.Selector, Stdin: x.in.Stdin, Shell: x.in.Shell}
	r.Command = cmdutil.Redactor(x.k.secrets)(x.cmd.Script)
	r.Exact = r.Command == x.cmd.Script && x.in.Program == "" && x.cmd.Scripts == nil
	if len(r.Command) > runstore.MaxCommand {
		r.Command, r.Exact = "", false
	}
	if r.Targets == "" {
		r.Targets = hosts.Fold(slices.Clone(x.labels))
	}
	for i, label := range x.labels {
		h := runstore.Host{Name: targets.Asked(x.hosts[i])}
		if label != h.Name {
			h.Label = label
		}
		r.Hosts = append(r.Hosts, h)
	}
	w, err := x.k.cfg.Runs.Begin(r)
	if err != nil {
		if !errors.Is(err, runstore.ErrNotFound) && !errors.Is(err, fs.ErrExist) { // the id is the caller's choice
			x.k.log.Printf("a run is not kept: %v", err)
		}
		return nil
	}
	return w
}

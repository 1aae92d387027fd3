package runs

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/params"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/route"
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
	ID    string  `path:"id" maxLength:"80" doc:"of a run of one's own"`
	WaitS float64 `query:"wait_s" minimum:"0" doc:"wait so many seconds for its end (default 0, at most 50)"`
}

func (rs *Runs) addKeptRuns(a *route.API) {
	route.Add(a, route.Route{Method: "GET", Path: Path, ID: "list-runs", Tag: "runs", Need: access.NeedSee, Summary: "One's runs on many hosts, the newest first, without their hosts"},
		func(_ context.Context, c *access.Caller, in *keptRunsIn) (*route.Body[wire.KeptRuns], error) {
			out := &wire.KeptRuns{Items: []wire.KeptRun{}}
			if rs.Store == nil {
				return route.JSON(out), nil
			}
			all, err := rs.Store.List(c.Principal)
			if err != nil {
				return nil, err
			}
			for _, r := range all[:min(in.Limit, len(all))] {
				item := keptRun(r)
				item.Hosts = nil
				out.Items = append(out.Items, item)
			}
			return route.JSON(out), nil
		})
	route.Add(a, route.Route{Method: "GET", Path: Path + "/{id}", ID: "get-run", Tag: "runs", Need: access.NeedSee, Summary: "How a run on many hosts has ended, or is going; waits for its end if asked to"},
		func(ctx context.Context, c *access.Caller, in *keptRunIn) (*route.Body[wire.KeptRun], error) {
			wait, err := params.Seconds("wait_s", &in.WaitS, 0, route.MaxWait)
			if err != nil {
				return nil, err
			}
			r, err := rs.awaitKept(ctx, c, in.ID, wait)
			if err != nil {
				return nil, err
			}
			out := keptRun(r)
			return route.JSON(&out), nil
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
		out.Hosts = append(out.Hosts, wire.KeptHost{Host: x.End.Host, Status: string(x.Status), ExitCode: x.ExitCode, Why: x.Why, NotRun: x.NotRun, Verify: x.Verify, Unverified: x.Unverified})
	}
	return out
}

// joined adds to the run that the caller keeps under this id; nil where it keeps none.
func (x *fleet) joined() *runstore.Writer {
	if x.rs.Store == nil || x.in.KeepRun || x.c.Bucket != "" {
		return nil
	}
	return x.rs.Store.Join(x.c.Principal, x.in.ID)
}

// keep begins to keep the run, if its caller wants that; nil where it is not kept.
func (x *fleet) keep() *runstore.Writer {
	if x.rs.Store == nil || !x.in.KeepRun {
		return nil
	}
	r := runstore.Run{ID: x.in.ID, Principal: x.c.Principal, Started: time.Now(), Targets: x.in.Selector, Stdin: x.in.Stdin, Shell: x.in.Shell, Held: x.in.Held, Become: x.in.Become, SSH: x.c.Ssh}
	r.Command = cmdutil.Redactor(x.rs.Secrets)(x.cmd.Script)
	r.Exact = r.Command == x.cmd.Script && x.in.Copy == nil && x.job == nil
	if len(r.Command) > runstore.MaxCommand {
		r.Command, r.Exact = "", false
	}
	if how := x.in.Rollout; how != nil && how.Verify != "" {
		r.Exact = r.Exact && cmdutil.Redactor(x.rs.Secrets)(how.Verify) == how.Verify && len(how.Verify) <= runstore.MaxCommand
		if r.Exact {
			r.Verify = how.Verify
		}
	}
	if x.in.Rollout != nil {
		how := *x.in.Rollout
		how.Verify = "" // which may hold a secret
		r.Rollout = &how
	}
	if r.Exact && x.in.Program != "" {
		r.Words = append([]string{x.in.Program}, x.in.Args...)
	}
	if x.cmd.Timeout > 0 {
		r.Timeout = x.cmd.Timeout.String()
	}
	if x.cmd.Idle > 0 {
		r.Idle = x.cmd.Idle.String()
	}
	if r.Targets == "" {
		r.Targets = hosts.Fold(slices.Clone(x.labels))
	}
	for i, label := range x.labels {
		h := runstore.Host{Name: targets.Asked(x.hosts[i])}
		if label != h.Name {
			h.Label = label
		}
		if x.cmd.Scripts != nil && r.Exact {
			h.Command = x.cmd.Scripts(x.hosts[i])
		}
		r.Hosts = append(r.Hosts, h)
	}
	w, err := x.rs.Store.Begin(r)
	if err != nil {
		if !errors.Is(err, runstore.ErrNotFound) && !errors.Is(err, fs.ErrExist) { // the id is the caller's choice
			x.rs.Log.Printf("a run is not kept: %v", err)
		}
		return nil
	}
	return w
}

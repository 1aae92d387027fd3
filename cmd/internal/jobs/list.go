package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/exitcode"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/outcome"
	"github.com/fairlead-ssh/fairlead/cmd/internal/table"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
)

func list(ctx context.Context, o *Options) error {
	all, err := o.jobs(ctx, "")
	if err != nil {
		return err
	}
	if o.JSON {
		enc := json.NewEncoder(o.IO.Out)
		for _, j := range all.Items {
			if err := enc.Encode(j); err != nil {
				return err
			}
		}
	} else if err := o.table(all.Items); err != nil {
		return err
	}
	code := exitcode.OK
	var causes outcome.Causes
	for _, f := range all.Failed {
		r, err := o.refusal(ctx, f.Host, &wire.Problem{Code: f.Code, Detail: f.Detail})
		if err != nil {
			return err
		}
		causes.Add(outcome.CauseOf(f.Host, r, ""))
		code = max(code, exitcode.Host(r))
	}
	causes.Tell(o.IO.Err)
	return cmdutil.Exit(code)
}

func (o *Options) table(all []wire.Job) error {
	t := table.New("JOB", "STATE", "EXIT", "STARTED", "STDOUT", "STDERR", "OWNER", "COMMAND")
	t.Fit, t.Keep, t.Whole, t.Drop = true, []string{"STATE", "EXIT", "COMMAND"}, []string{"STARTED"}, []string{"OWNER", "STDERR", "STDOUT", "STARTED"}
	for _, j := range all {
		code, when := "-", "-"
		if j.ExitCode != nil {
			code = strconv.Itoa(*j.ExitCode)
		}
		if j.Started != nil {
			when = j.Started.Local().Format(time.DateTime)
		}
		state := j.State
		if j.Damaged != "" {
			state += ", damaged"
		}
		t.Add(j.ID, state, code, when, strconv.FormatInt(j.StdoutBytes, 10), strconv.FormatInt(j.StderrBytes, 10), cmp.Or(j.Owner, "-"), cmp.Or(j.Command, "-"))
	}
	return t.Print(o.IO)
}

// jobs asks the hosts, for the jobs that have an id or are of its group; "" is all jobs.
func (o *Options) jobs(ctx context.Context, group string) (*wire.Jobs, error) {
	if o.Target == "" && !o.SSH.Empty() {
		return nil, cmdutil.Usagef("%s says how hosts are reached: name them, fairlead jobs list TARGETS", o.SSH.Names())
	}
	if o.Target == "" {
		c, err := o.running(ctx)
		switch {
		case err != nil:
			return nil, err
		case c == nil:
			return nil, cmdutil.Usagef("no running keeper knows of jobs: name the hosts, fairlead jobs list TARGETS")
		}
		defer c.Close()
		return o.pages(ctx, c, "", group)
	}
	all := targets.Resolver{Inventory: o.Inventory, In: o.IO.In, Reach: o.Reach}
	hs, err := all.Resolve(o.Target, "")
	if err != nil {
		return nil, &cmdutil.UsageError{Err: err}
	}
	c, err := o.Place.For(ctx, hs)
	if err != nil {
		return nil, err
	}
	if c != nil {
		defer c.Close()
		return o.named(ctx, c, hs, group)
	}
	l, err := o.local(nil)
	if err != nil {
		return nil, err
	}
	defer l.close()
	found, err := l.list(ctx, hs, group)
	if cause := context.Cause(ctx); cause != nil {
		return nil, o.failed(ctx, o.Target, cause)
	}
	out := &wire.Jobs{Failed: wire.JobsFailed(err, cmdutil.Why)}
	for _, j := range found {
		out.Items = append(out.Items, *wire.JobOf(j))
	}
	return out, nil
}

// maxSelector is how long a selector the keeper is given, which takes 4096 bytes.
const maxSelector = 3500

// named asks the keeper about hosts by their names. It knows neither the lists of names that only the command line reads, nor, in
// a selector, hosts outside the inventory.
func (o *Options) named(ctx context.Context, c *client.Client, hs []hosts.Host, group string) (*wire.Jobs, error) {
	inv, err := o.Inventory()
	if err != nil {
		inv = nil // no host is from it then
	}
	var asked []string
	last := -1 // the selector that has room
	for _, h := range hs {
		name := targets.Asked(h)
		listed := false
		if inv != nil && name == h.Name {
			_, err := inv.Lookup(name)
			listed = err == nil
		}
		switch {
		case listed && last >= 0 && len(asked[last])+len(name) < maxSelector:
			asked[last] += "," + name
		case listed:
			last = len(asked)
			asked = append(asked, name)
		default:
			asked = append(asked, name)
		}
	}
	all := &wire.Jobs{}
	for _, selector := range asked {
		some, err := o.pages(ctx, c, selector, group)
		if err != nil {
			return nil, err
		}
		all.Items, all.Failed = append(all.Items, some.Items...), append(all.Failed, some.Failed...)
	}
	slices.SortStableFunc(all.Items, func(a, b wire.Job) int { return cmp.Compare(a.ID, b.ID) })
	return all, nil
}

// pages takes a list of the keeper's together.
func (o *Options) pages(ctx context.Context, c *client.Client, selector, group string) (*wire.Jobs, error) {
	all := &wire.Jobs{}
	for {
		p, err := c.GroupJobs(ctx, selector, group, all.Next, o.Reason)
		if err != nil {
			return nil, o.failed(ctx, selector, err)
		}
		all.Items, all.Next = append(all.Items, p.Items...), p.Next
		for _, f := range p.Failed { // a host may be asked for several pages
			if !slices.Contains(all.Failed, f) {
				all.Failed = append(all.Failed, f)
			}
		}
		if p.Next == "" {
			return all, nil
		}
	}
}

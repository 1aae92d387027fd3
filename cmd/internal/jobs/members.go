package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/exitcode"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/outcome"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/jobs"
)

// group is a job on several hosts.
type group struct {
	all   []wire.Job
	site  site
	codes tally // of the hosts that did not answer, or do not have the job
}

// members finds the jobs of a group on the hosts that its name picks, and reports the hosts where it finds none; nil where the
// name is of one host.
func (o *Options) members(ctx context.Context) (*group, error) {
	ref, err := jobs.ParseRef(o.Target)
	if err != nil || ref.Host == "" {
		return nil, nil // find says what is wrong
	}
	sel := targets.Resolver{Inventory: o.Inventory, In: strings.NewReader(""), Reach: o.Reach}
	hs, err := sel.Resolve(ref.Host, "")
	if err != nil || len(hs) == 1 {
		return nil, nil
	}
	on := *o
	on.Target = ref.Host
	found, err := on.jobs(ctx, ref.ID)
	if err != nil {
		return nil, err
	}
	g := &group{}
	has := g.pick(ref, hs, found.Items)
	if err := g.reportOthers(ctx, o, ref, hs, has, found.Failed); err != nil {
		return nil, err
	}
	c, err := o.Place.For(ctx, hs)
	switch {
	case err != nil:
		return nil, err
	case c != nil:
		g.site = there{c, o.Reason}
		return g, nil
	}
	g.site, err = o.local(nil)
	return g, err
}

// pick takes the jobs of a group, and returns the names of the hosts that list one.
func (g *group) pick(ref jobs.Ref, hs []hosts.Host, listed []wire.Job) map[string]bool {
	name, _, _ := strings.Cut(ref.ID, "-")
	has := map[string]bool{}
	at := map[string]int{} // hosts that are one machine, or share a home directory, all have each job
	for _, j := range listed {
		r, err := jobs.ParseRef(j.ID)
		base, number, _ := strings.Cut(r.ID, "-")
		if err != nil || base != name || ref.ID != name && ref.ID != r.ID {
			continue
		}
		has[j.Host] = true
		i, twice := at[r.ID]
		if n, err := strconv.Atoi(number); twice && err == nil && n <= len(hs) && targets.Asked(hs[n-1]) == r.Host {
			g.all[i] = j // the one that it was started on, where the hosts are the same
		}
		if !twice {
			at[r.ID] = len(g.all)
			g.all = append(g.all, j)
		}
	}
	return has
}

// reportOthers reports the hosts that did not answer, and those that do not have the job. It fails where none has it.
func (g *group) reportOthers(ctx context.Context, o *Options, ref jobs.Ref, hs []hosts.Host, has map[string]bool, failed []wire.JobsFrom) error {
	if len(g.all) == 0 && len(failed) == 0 {
		return cmdutil.Usagef("%s: there is no such job on these hosts", o.Target)
	}
	if cause := context.Cause(ctx); cause != nil && len(failed) > 0 {
		return o.failed(ctx, o.Target, cause)
	}
	unanswered := map[string]bool{}
	var causes outcome.Causes
	for _, f := range failed {
		if unanswered[f.Host] = true; has[f.Host] { // it lists more jobs than fit, and this one
			continue
		}
		host, err := cmp.Or(f.Host, ref.Host), &wire.Problem{Code: f.Code, Detail: f.Detail}
		r, other := o.refusal(ctx, host, err)
		if other != nil {
			g.codes.add(o.failedOne(ctx, host, err))
			continue
		}
		causes.Add(outcome.CauseOf(host, r, ""))
		g.codes.add(cmdutil.Exit(exitcode.Host(r)))
	}
	causes.Tell(o.IO.Err)
	var lacking []string
	for _, h := range hs {
		if !has[h.Name] && !unanswered[h.Name] {
			lacking = append(lacking, h.Name)
		}
	}
	// A number is of a job on one host, and a failure without a name may be of any.
	if len(lacking) > 0 && !strings.Contains(ref.ID, "-") && !unanswered[""] {
		fmt.Fprintf(o.IO.Err, "fairlead: %s: there is no such job: it was not started there, or it was collected\n", hosts.Fold(lacking))
		g.codes.add(cmdutil.Exit(exitcode.Unknown))
	}
	if g.codes.err != nil || len(g.all) == 0 {
		return g.codes.exit()
	}
	return nil
}

// failedOne is failed for one host of several: what is wrong with it does not hide how the others are.
func (o *Options) failedOne(ctx context.Context, host string, err error) error {
	err = o.failed(ctx, host, err)
	var usage *cmdutil.UsageError
	if !errors.As(err, &usage) {
		return err
	}
	text := cmdutil.OneLine(cmdutil.Text(usage.Err))
	if !strings.HasPrefix(text, host+": ") {
		text = host + ": " + text
	}
	fmt.Fprintf(o.IO.Err, "fairlead: %s\n", text)
	return cmdutil.Exit(exitcode.Unknown)
}

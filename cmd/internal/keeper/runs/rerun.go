package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/runstore"
)

// rerun fills in the command and the hosts of a request that runs a kept run again.
func (rs *Runs) rerun(c *access.Caller, b *wire.NewRun) error {
	again := b.Rerun
	if again == nil {
		return nil
	}
	switch {
	case b.Host != "" || b.Session != "" || len(b.Hosts) > 0 || b.Selector != "":
		return problem.Invalid("rerun says on which hosts it runs: leave host, session, hosts and selector out")
	case b.Command != "" || b.CommandB64 != "" || b.Program != "" || b.Commands != nil || b.Copy != nil || b.Job != "":
		return problem.Invalid("rerun runs the command of the run: leave other commands out")
	}
	rec, err := rs.keptRun(c, again.Run)
	if err != nil {
		return err
	}
	picked, err := rec.Pick(again.On)
	why := ""
	switch {
	case err != nil:
		return problem.Invalid("rerun: %v", err)
	case rec.State == "running":
		why = "it still runs"
	case len(picked) == 0:
		why = fmt.Sprintf("no host of it is %s", again.On)
	case rec.Stdin:
		why = "its standard input was not kept"
	case rec.SSH != c.Ssh:
		why = "its hosts were reached with other options of ssh (" + wire.SSHOptions + "), which decide where and as whom it runs"
	case !rec.Exact:
		why = "its command, or what checks it, holds a secret or is too long, and was not kept"
	}
	if why != "" {
		return problem.Invalid("%s cannot be run again: %s", rec.ID, why)
	}
	each := false
	for _, h := range picked {
		b.Hosts = append(b.Hosts, h.Name)
		each = each || h.Command != ""
	}
	switch {
	case each:
		for _, h := range picked {
			b.Commands = append(b.Commands, h.Command)
		}
	case rec.Words != nil:
		b.Program, b.Args = rec.Words[0], rec.Words[1:]
	default:
		b.SetCommand(rec.Command)
	}
	b.Held = b.Held || rec.Held
	b.Become = cmp.Or(b.Become, rec.Become)
	if rec.Verify != "" {
		b.Rollout = cmp.Or(b.Rollout, &wire.Rollout{})
		b.Rollout.Verify = cmp.Or(b.Rollout.Verify, rec.Verify)
	}
	if b.Shell == "" {
		b.Shell = rec.Shell
	}
	keptLimit(rec.Timeout, &b.TimeoutS)
	keptLimit(rec.Idle, &b.IdleS)
	return nil
}

// keptLimit fills in a limit that the request does not have.
func keptLimit(kept string, to **float64) {
	if d, err := time.ParseDuration(kept); err == nil && *to == nil {
		s := d.Seconds()
		*to = &s
	}
}

// keptRun is a kept run of the caller.
func (rs *Runs) keptRun(c *access.Caller, id string) (*runstore.Record, error) {
	if rs.Store == nil {
		return nil, problem.NotFound("run", id)
	}
	r, err := rs.Store.Get(c.Principal, id)
	if errors.Is(err, runstore.ErrNotFound) {
		return nil, problem.NotFound("run", id)
	}
	return r, err
}

// lookEvery is how often a run is looked at whose end a caller waits for.
const lookEvery = 200 * time.Millisecond

// awaitKept is keptRun after a wait for its end.
func (rs *Runs) awaitKept(ctx context.Context, c *access.Caller, id string, wait time.Duration) (*runstore.Record, error) {
	ctx, stop := context.WithTimeout(ctx, wait)
	defer stop()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		r, err := rs.keptRun(c, id)
		if err != nil || r.State != "running" || ctx.Err() != nil {
			return r, err
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

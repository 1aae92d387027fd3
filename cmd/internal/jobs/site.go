package jobs

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/config"
	"github.com/fairlead-ssh/fairlead/cmd/internal/consent"
	"github.com/fairlead-ssh/fairlead/cmd/internal/exitcode"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/outcome"
	"github.com/fairlead-ssh/fairlead/cmd/internal/place"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/jobs"
)

func source(args []string) (string, error) {
	script, err := consent.Script(args)
	if err == nil {
		err = jobs.CheckCommand(script)
	}
	if err != nil {
		return "", &cmdutil.UsageError{Err: err}
	}
	return script, nil
}

// site is where jobs are reached: through a keeper, or from here.
type site interface {
	job(ctx context.Context, id string, wait time.Duration) (*wire.Job, error)
	output(ctx context.Context, id, stream string, offset int64, wait time.Duration) (*wire.JobPage, error)
	stop(ctx context.Context, id string, grace time.Duration) (*wire.Job, error)
	collect(ctx context.Context, id string) (*wire.Job, error)
	discard(ctx context.Context, id string) (*wire.Job, error) // is collect without the output
	close()
}

// there reaches them through a keeper.
type there struct {
	c      *client.Client
	reason string
}

func (t there) job(ctx context.Context, id string, wait time.Duration) (*wire.Job, error) {
	return t.c.Job(ctx, id, wait, t.reason)
}

func (t there) output(ctx context.Context, id, stream string, offset int64, wait time.Duration) (*wire.JobPage, error) {
	return t.c.JobOutput(ctx, id, stream, offset, pageBytes, wait, t.reason)
}

func (t there) stop(ctx context.Context, id string, grace time.Duration) (*wire.Job, error) {
	s := grace.Seconds()
	return t.c.StopJob(ctx, id, wire.StopJob{GraceS: &s, Reason: t.reason})
}

func (t there) collect(ctx context.Context, id string) (*wire.Job, error) {
	return t.c.CollectJob(ctx, id, t.reason)
}

func (t there) discard(ctx context.Context, id string) (*wire.Job, error) {
	return t.c.DiscardJob(ctx, id, t.reason)
}

func (t there) close() { t.c.Close() }

// pageBytes is how much of an output is asked for at a time.
const pageBytes = 1 << 20

// host is the one that a text names.
func (o *Options) host(text string) (hosts.Host, error) {
	all := targets.Resolver{Inventory: o.Inventory, In: strings.NewReader(""), Reach: o.Reach}
	hs, err := all.Resolve(text, "")
	switch {
	case err != nil:
		return hosts.Host{}, &cmdutil.UsageError{Err: err}
	case len(hs) > 1:
		return hosts.Host{}, cmdutil.Usagef("a job is on one host, and %s picks %d", text, len(hs))
	}
	return hs[0], nil
}

// find says where the job of the argument is reached, and how it is called there. host is for messages.
func (o *Options) find(ctx context.Context) (s site, id, host string, err error) {
	ref, err := jobs.ParseRef(o.Target)
	if err != nil {
		return nil, "", "", &cmdutil.UsageError{Err: err}
	}
	if ref.Host == "" && !o.SSH.Empty() {
		return nil, "", "", cmdutil.Usagef("%s says how a host is reached: name it, as HOST/%s", o.SSH.Names(), ref.ID)
	}
	if ref.Host == "" {
		c, err := o.running(ctx)
		if err != nil {
			return nil, "", "", err
		}
		if c == nil {
			return nil, "", "", cmdutil.Usagef("unknown job %s: give its host too, as HOST/%s", ref.ID, ref.ID)
		}
		return there{c, o.Reason}, ref.ID, ref.ID, nil
	}
	h, err := o.host(ref.Host)
	if err != nil {
		return nil, "", "", err
	}
	c, err := o.Place.For(ctx, []hosts.Host{h})
	switch {
	case err != nil:
		return nil, "", "", err
	case c != nil:
		return there{c, o.Reason}, jobs.Ref{Host: targets.Asked(h), ID: ref.ID}.String(), h.Name, nil
	}
	l, err := o.local(nil)
	return l, ref.String(), h.Name, err
}

// running is the keeper that runs; nil where none does, or none is wanted.
func (o *Options) running(ctx context.Context) (*client.Client, error) {
	mode, err := o.Place.Mode()
	if err != nil || mode == config.Off {
		return nil, err
	}
	c, err := o.Keepers.Find(ctx)
	if errors.Is(err, cmdutil.ErrNoKeeper) {
		return nil, nil
	}
	return c, err
}

// failed tells why there is no job, or nothing of it, as commands tell that of a host.
func (o *Options) failed(ctx context.Context, host string, err error) error {
	r, err := o.refusal(ctx, host, err)
	if err != nil {
		return err
	}
	fmt.Fprint(o.IO.Err, outcome.Tell(host, r))
	return cmdutil.Exit(exitcode.Host(r))
}

// refusal is why there is no job, or nothing of it, as the result of a command; or the error of what is not the host's doing.
func (o *Options) refusal(ctx context.Context, host string, err error) (none session.Result, _ error) {
	if cause := context.Cause(ctx); cause != nil {
		if ended := outcome.Ended(cause); ended != nil {
			return none, ended
		}
		return none, cause
	}
	var usage *cmdutil.UsageError
	var se *session.Error
	switch {
	case errors.As(err, &usage):
		return none, err
	case errors.As(err, &se):
		err = &wire.Problem{Code: se.Code, Detail: cmdutil.WhyAt(se), Retriable: se.Retriable}
	}
	var p *wire.Problem
	if errors.As(err, &p) {
		switch p.Code {
		case jobs.CodeRunning, jobs.CodeNotFound, jobs.CodeInvalid:
			return none, cmdutil.Usagef("%s: %s", host, cmdutil.OneLine(p.Detail))
		case "rejected", "expired":
			p = &wire.Problem{Code: "denied", Detail: p.Detail}
		}
		err = p
	}
	return place.Refused(err, host, "", false)
}

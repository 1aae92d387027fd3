package jobs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

// followed reads a job on after its connection or its keeper went away: the job lives on its host, and reading changes nothing.
type followed struct {
	site
	o    *Options
	host string
	lost int // reads in a row that were cut off
}

// shared is a site that others use too.
type shared struct{ site }

func (shared) close() {}

// again are the waits before each attempt to go on; then follow gives up.
var again = []time.Duration{100 * time.Millisecond, 500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}

func (f *followed) job(ctx context.Context, id string, wait time.Duration) (j *wire.Job, err error) {
	err = f.on(ctx, func() error {
		j, err = f.site.job(ctx, id, wait)
		return err
	})
	return j, err
}

func (f *followed) output(ctx context.Context, id, stream string, offset int64, wait time.Duration) (p *wire.JobPage, err error) {
	err = f.on(ctx, func() error {
		p, err = f.site.output(ctx, id, stream, offset, wait)
		return err
	})
	return p, err
}

// on reads until that is not cut off, or too often.
func (f *followed) on(ctx context.Context, read func() error) error {
	for {
		err := read()
		if err == nil || ctx.Err() != nil || !cutOff(err) {
			f.lost = 0
			return err
		}
		if err := f.reconnect(ctx, err); err != nil {
			return err
		}
	}
}

// reconnect finds the job again. why is what cut the last read off.
func (f *followed) reconnect(ctx context.Context, why error) error {
	for {
		if f.lost == len(again) {
			return &wire.Problem{Code: string(session.StatusUnreachable), Detail: fmt.Sprintf(
				"Fairlead cannot follow the job, which is still running: %v. To see the rest, run: fairlead jobs follow %s", why, printable.Word(f.o.Target))}
		}
		if f.lost == 0 {
			fmt.Fprintf(f.o.IO.Err, "fairlead: %s: connection lost; reconnecting. The job is still running\n", f.host)
		}
		wait := time.NewTimer(again[f.lost])
		f.lost++
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return context.Cause(ctx)
		}
		s, _, _, err := f.o.find(ctx)
		if err == nil {
			f.site.close()
			f.site = s
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		why = err
	}
}

// cutOff reports that a read failed for what may be over in a moment, and not for what the job or the policy is.
func cutOff(err error) bool {
	var p *wire.Problem
	code := ""
	switch se := (*session.Error)(nil); {
	case errors.Is(err, client.ErrUnreachable):
		return true
	case errors.As(err, &p):
		code = p.Code
	case errors.As(err, &se):
		code = se.Code
	}
	switch code {
	case "lost", string(session.StatusUnreachable), string(session.StatusTimeout), registry.CodeClosed, string(session.StatusCanceled):
		return true
	}
	return false
}

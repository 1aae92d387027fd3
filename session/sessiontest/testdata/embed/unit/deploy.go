// Package unit is code that runs commands on hosts, and its unit test, which needs neither hosts nor processes.
package unit

import (
	"context"
	"errors"
	"fmt"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
)

// ErrRollback is wrapped where a release was taken back.
var ErrRollback = errors.New("rolled back")

// Deploy switches a host to a release, and back where its service does not come up.
func Deploy(ctx context.Context, pool *session.Pool, h hosts.Host, release string) error {
	link := func(to string) error {
		script, err := session.Words("ln", "-sfn", to, "/srv/app/current")
		if err != nil {
			return err
		}
		r, err := pool.Run(ctx, h, session.Command{Script: script})
		if err != nil {
			return err
		}
		return r.ExitErr()
	}
	r, err := pool.Run(ctx, h, session.Command{Script: "readlink /srv/app/current"})
	if err != nil {
		return err
	}
	before := string(r.Stdout[:max(len(r.Stdout)-1, 0)])
	if err := link("/srv/app/" + release); err != nil {
		return err
	}
	r, err = pool.Run(ctx, h, session.Command{Script: "systemctl restart app"})
	switch {
	case errors.Is(err, session.ErrUnknownOutcome):
		return fmt.Errorf("%s: look before you try again: %w", h.Name, err)
	case err != nil:
		return err
	case r.ExitErr() != nil:
		return errors.Join(fmt.Errorf("%s: %w: %w", h.Name, ErrRollback, r.ExitErr()), link(before))
	}
	return nil
}

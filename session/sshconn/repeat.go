package sshconn

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/fairlead-ssh/fairlead/session"
)

// maxRefused is how many hosts of a run may refuse one login, before another has accepted it, until the rest is not tried.
const maxRefused = 3

// run counts how a login fares on the hosts of one run.
type run struct {
	mu sync.Mutex
	by map[string]*fare
}

type fare struct {
	refused int
	worked  bool
}

type runKey struct{}

// OneRun returns a context whose dials belong together. After three hosts have refused the same user with the same keys, and none
// has accepted them, the hosts that are left are not tried: each refusal counts against the address that it comes from.
func OneRun(ctx context.Context) context.Context {
	return context.WithValue(ctx, runKey{}, &run{by: map[string]*fare{}})
}

// fareOf returns what is known of a login; nil where the dial belongs to no run.
func fareOf(ctx context.Context, t *target) (*run, *fare) {
	r, _ := ctx.Value(runKey{}).(*run)
	if r == nil {
		return nil, nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	key := t.user + "\x00" + t.login
	f := r.by[key]
	if f == nil {
		f = &fare{}
		r.by[key] = f
	}
	return r, f
}

// oneOf connects as f does, unless the run of ctx has seen enough of its login.
func oneOf(ctx context.Context, t *target, f func() (*Conn, error)) (*Conn, error) {
	r, known := fareOf(ctx, t)
	if r == nil || t.scan {
		return f()
	}
	r.mu.Lock()
	enough := !known.worked && known.refused >= maxRefused
	r.mu.Unlock()
	if enough {
		return nil, &Error{Host: t.name, Addr: t.addr(), Step: StepLogin, Err: &notTried{t.user}}
	}
	c, err := f()
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err == nil:
		known.worked = true
	case errors.Is(err, session.ErrAuth):
		known.refused++
	}
	return c, err
}

// notTried says that a login was not tried. It wraps session.ErrAuth.
type notTried struct{ user string }

func (e *notTried) Error() string {
	return fmt.Sprintf("not tried: %d hosts of this run have refused %s with the same keys", maxRefused, e.user)
}

func (e *notTried) Unwrap() error { return session.ErrAuth }

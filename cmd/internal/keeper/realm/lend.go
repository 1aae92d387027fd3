package realm

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/livepolicy"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/registry"
	"github.com/fairlead-ssh/fairlead/session/sandbox"
)

// LendOrAlone lets use have a connection of the pool or, where that has no room, one that nobody shares.
func (r *Realm) LendOrAlone(ctx context.Context, h hosts.Host, use func(session.Transport) error) (release func(), err error) {
	release, err = registry.Lend(ctx, r.Pool, h, use)
	if errors.Is(err, session.ErrFull) {
		return r.Alone(ctx, h, use)
	}
	return release, err
}

// Alone lets use have a connection that nobody shares.
func (r *Realm) Alone(ctx context.Context, h hosts.Host, use func(session.Transport) error) (release func(), err error) {
	conn, err := r.Conn.Dial(ctx, h)
	if err != nil {
		return nil, err
	}
	if err := use(conn); err != nil {
		conn.Close()
		return nil, err
	}
	return func() { conn.Close() }, nil
}

// abilities remembers what the kernels of hosts were found to do, for one account on each.
type abilities struct {
	mu sync.Mutex
	m  map[string]sandbox.Ability
}

// Able says what the kernel of a host can do to hold a sandbox; look asks it the first time.
func (r *Realm) Able(ctx context.Context, look sandbox.Runner, h hosts.Host, s sandbox.Sandbox) (sandbox.Ability, error) {
	a := &r.able
	a.mu.Lock()
	can, known := a.m[h.Name]
	a.mu.Unlock()
	if known {
		return can, nil
	}
	can, err := sandbox.Probe(ctx, look, sandbox.Bubblewrap{}, s)
	if err != nil {
		return can, err
	}
	if can.Bubblewrap { // why it does not work may be the sandbox's own fault
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.m == nil {
			a.m = map[string]sandbox.Ability{}
		}
		a.m[h.Name] = can
	}
	return can, nil
}

// Look runs scripts of ours on a host, each in a shell of its own.
func (r *Realm) Look(h hosts.Host) sandbox.Runner { return r.LookFor(h, "sandbox") }

// LookFor is Look with what stands on record as the reason.
func (r *Realm) LookFor(h hosts.Host, reason string) sandbox.Runner {
	return func(ctx context.Context, _, script string) (string, error) {
		ctx = context.WithValue(ctx, livepolicy.OwnKey{}, true)
		res, err := r.Pool.Run(ctx, h, session.Command{Script: script, Reason: reason, Timeout: lookTime, Keep: 1 << 20})
		if err != nil {
			return "", err
		}
		if res.Status != session.StatusOK || res.OmittedStdout > 0 {
			return "", fmt.Errorf("the targets of paths cannot be determined on %s", h.Name)
		}
		return string(res.Stdout), nil
	}
}

// lookTime bounds looking where paths lead.
const lookTime = 30 * time.Second

package realm

import (
	"context"
	"errors"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/registry"
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

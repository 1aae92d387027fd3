package pipe

import (
	"context"
	"errors"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

// maxPools bounds the connections of one call.
const maxPools = 32

// Lend is registry.Lend of the first pool of this process that has room: a pool lends half of its places only. pool returns
// the pool n, and whether it made it now. A host that refuses also where nothing else runs on a connection (MaxSessions 0) is
// not asked again: every pool would log in anew.
func Lend(ctx context.Context, h hosts.Host, pool func(n int) (p *session.Pool, made bool, err error),
	use func(session.Transport) error) (release func(), err error) {
	for n := range maxPools {
		p, made, perr := pool(n)
		if perr != nil {
			return nil, perr
		}
		used := false
		release, err = registry.Lend(ctx, p, h, func(t session.Transport) error { used = true; return use(t) })
		if !errors.Is(err, session.ErrFull) || made && used {
			return release, err
		}
	}
	return nil, err
}

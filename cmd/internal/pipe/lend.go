package pipe

import (
	"context"
	"errors"
	"sync"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

// maxPools bounds the connections of one call.
const maxPools = 32

// Lender lends connections of this process. Its method may be called concurrently.
type Lender struct {
	Make func() (*session.Pool, error) // makes a pool, which its factory closes; one call at a time

	mu    sync.Mutex // guards what follows
	pools []*session.Pool
}

// Lend is registry.Lend of the first pool that has room: a pool lends half of its places only. A host that refuses also where
// nothing else runs on a connection (MaxSessions 0) is not asked again: every pool would log in anew.
func (l *Lender) Lend(ctx context.Context, h hosts.Host, use func(session.Transport) error) (release func(), err error) {
	for n := range maxPools {
		p, made, perr := l.pool(n)
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

// pool returns the pool n, and whether it was made for that.
func (l *Lender) pool(n int) (_ *session.Pool, made bool, _ error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if made = n == len(l.pools); made {
		p, err := l.Make()
		if err != nil {
			return nil, false, err
		}
		l.pools = append(l.pools, p)
	}
	return l.pools[n], made, nil
}

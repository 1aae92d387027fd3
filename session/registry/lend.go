package registry

import (
	"context"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/internal/seam"
)

// Lend lets use open something else than a session on a connection to h that the sessions of a pool share, or on a new one:
// a terminal, say. Where use returns an error that wraps ErrFull it is called again with another connection. Of what runs
// there the pool knows nothing: it is neither judged nor recorded, and it is the caller who sees to both and ends it. release,
// which must be called once after that, gives the place on the connection back. ctx bounds the call only.
//
// It does not wait: the error wraps ErrFull where no place is free. At most half of a host's places are lent, so that
// sessions have the others.
func Lend(ctx context.Context, p *session.Pool, h hosts.Host, use func(session.Transport) error) (release func(), err error) {
	return seam.Lend(ctx, p, h, use)
}

package registry

import (
	"context"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/become"
	"github.com/fairlead-ssh/fairlead/session/internal/seam"
)

// Elevate is a connection to h on which programs are started as the account of h.Become, as sessions start theirs: for a terminal on
// a connection that Lend lends. Where h has none it is t itself. ask asks a person for a password; nil is none.
func Elevate(t session.Transport, h hosts.Host, ask become.Ask) session.Transport {
	return seam.Elevate(t, h, ask).(session.Transport)
}

// Traced returns ctx for a dial to h that no pool makes: t is told of host keys and of tries to log in, as by a pool.
func Traced(ctx context.Context, t *session.Trace, h hosts.Host) context.Context {
	return seam.Traced(ctx, t, h)
}

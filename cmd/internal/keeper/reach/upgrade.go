package reach

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// ErrOther is wrapped where the keeper that runs speaks another form of the API than this program.
var ErrOther = errors.New("keeper: the one that runs does not understand this program")

// meet looks at a keeper that has answered. One that is older, and that would lose nothing, is asked to leave, and is gone
// when meet says so: then the caller starts another. One that is newer is never asked to.
func (cfg *Config) meet(ctx context.Context, c *client.Client, h wire.Health) (gone bool, err error) {
	older, why := newer(cfg.Version, h.Version), ""
	switch person := cfg.Client.Principal == ""; {
	case !older || !person:
	case len(cfg.Command) == 0:
		if h.Sessions > 0 {
			why = wire.SessionsOpen(h.Sessions)
		}
	default:
		err := c.Leave(ctx)
		var p *wire.Problem
		switch {
		case err == nil, errors.Is(err, client.ErrUnreachable), errors.As(err, &p) && isEnding(p):
			return true, cfg.Places.AwaitEnd(ctx)
		case ctx.Err() != nil:
			return false, context.Cause(ctx)
		case p != nil && p.Code == "busy":
			why = p.Detail
		}
		if why == "" {
			why = "it does not leave by itself"
		}
	}
	other := cmp.Or(h.API, firstAPI) != wire.API
	switch {
	case other && newer(h.Version, cfg.Version):
		return false, fmt.Errorf("%w: it is %s, newer than this program, %s; use one of its version", ErrOther, h.Version, cfg.Version)
	case other:
		return false, fmt.Errorf("%w: it is %s, and this is %s; fairlead serve --stop ends it with its sessions, and the next command starts one of this version", ErrOther, h.Version, cfg.Version)
	case why != "" && cfg.Tell != nil:
		cfg.Tell(fmt.Sprintf("the keeper that runs is %s, older than this program, %s: %s; fairlead serve --stop ends it with its sessions, and the next command starts a new one",
			h.Version, cfg.Version, why))
	}
	return false, nil
}

// firstAPI is what keepers speak that do not say what they speak.
const firstAPI = 1

// isEnding reports whether a keeper has said that it is about to be gone.
func isEnding(p *wire.Problem) bool {
	return p.Code == problem.ErrEnding.Code && p.Status == problem.ErrEnding.Status
}

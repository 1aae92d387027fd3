package keeper

import (
	"context"
	"net/http"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/registry"
	"github.com/fairlead-ssh/fairlead/session/store"
)

// opened remembers a session, so that it can be told as ended when this keeper is gone. Not to remember it is no reason
// not to have it.
func (k *Keeper) opened(ctx context.Context, c *access.Caller, e *registry.Entry) {
	if k.cfg.Store == nil {
		return
	}
	_, err := k.cfg.Store.OpenSession(context.WithoutCancel(ctx), store.Session{
		ID: e.ID(), Name: e.Name(), Principal: c.Principal, Host: e.Host().Name, Keeper: k.cfg.ID, Cwd: e.Dir(),
	})
	if err != nil {
		k.log.Printf("session %s is not remembered: %v", e.ID(), err)
	}
}

// ended remembers that a session has ended.
func (k *Keeper) ended(ctx context.Context, id string) {
	if k.cfg.Store == nil {
		return
	}
	if _, err := k.cfg.Store.EndSession(context.WithoutCancel(ctx), id, "it was asked to"); err != nil {
		k.log.Printf("session %s: %v", id, err)
	}
}

// past tells a session that was from one that never was.
func (k *Keeper) past(ctx context.Context, c *access.Caller, idOrName string) error {
	missing := problem.NotFound("session", idOrName)
	if k.cfg.Store == nil {
		return missing
	}
	s, err := k.cfg.Store.Session(ctx, idOrName)
	if err != nil {
		page, perr := k.cfg.Store.Sessions(ctx, store.SessionFilter{Principal: c.Principal, Name: idOrName}, store.Paging{Limit: 1})
		if perr != nil || len(page.Items) == 0 || idOrName == "" {
			return missing
		}
		s = page.Items[0]
	}
	if s.Principal != c.Principal {
		return missing
	}
	if s.Ended.IsZero() && s.Keeper != k.cfg.ID { // which shares the store: it has another XDG_RUNTIME_DIR, or runs on another machine
		return problem.New(http.StatusConflict, wire.CodeElsewhere,
			"session %.80s on %s is open in another keeper: use it where it was opened, with the XDG_RUNTIME_DIR of there, or open a session here", idOrName, s.Host)
	}
	why := s.EndReason
	if why == "" {
		why = "its time was over"
	}
	return problem.New(http.StatusGone, registry.CodeClosed, "session %.80s on %s is closed: %s", idOrName, s.Host, why)
}

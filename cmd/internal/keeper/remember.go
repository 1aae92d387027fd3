package keeper

import (
	"context"
	"errors"
	"net/http"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
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
	why := s.EndReason
	if why == "" {
		why = "its time was over"
	}
	return problem.New(http.StatusGone, registry.CodeClosed, "session %.80s on %s is closed: %s", idOrName, s.Host, why)
}

// claimKey takes an idempotency key for a request, also against keepers before this one: KeyNew is the first, and it alone
// may give the key back.
func (k *Keeper) claimKey(ctx context.Context, key store.Key, request []byte) (store.KeyClaim, error) {
	if k.cfg.Store == nil {
		return store.KeyClaim{State: store.KeyNew}, nil
	}
	key.Request = request
	got, err := k.cfg.Store.ClaimKey(ctx, key)
	if err == nil && got.State == store.KeyConflict {
		err = problem.KeyUsed()
	}
	return got, err
}

// giveKeyBack lets a key be used again, for a request that came to nothing.
func (k *Keeper) giveKeyBack(ctx context.Context, key store.Key) {
	if k.cfg.Store == nil {
		return
	}
	err := k.cfg.Store.ReleaseKey(context.WithoutCancel(ctx), key)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		k.log.Printf("an idempotency key was not given back: %v", err)
	}
}

// storeKey is a key of this keeper's. What is in another's is known by its target at most.
func (k *Keeper) storeKey(c *access.Caller, key string) store.Key {
	return store.Key{Principal: c.Principal, Key: key, Target: "life " + k.life()}
}

package access

import (
	"context"
	"errors"
	"net/http"
	"sync"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/right"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/store"
)

// Why a token is none any more.
const (
	TokenRevoked right.Over = "the token was revoked: request a new one"
	tokenExpired right.Over = "the token has expired: request a new one"
)

// tokenRights are those of the tokens that are being used. When one ends, whoever has it is gone, as far as what it asked for
// goes: streams end, runs whose caller takes their output are stopped, terminals are hung up, and a command in a session that
// somebody waited for goes on. The zero value is none.
type tokenRights struct {
	mu sync.Mutex // guards m
	m  map[string]*right.Right
}

// of returns that of a token. mu is held.
func (t *tokenRights) of(id string) *right.Right {
	r := t.m[id]
	if r == nil {
		if t.m == nil {
			t.m = map[string]*right.Right{}
		}
		r = &right.Right{}
		t.m[id] = r
	}
	return r
}

// use is what caller.use does for a token.
func (t *tokenRights) use(ctx context.Context, tok store.Token) (context.Context, func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r := t.of(tok.ID)
	ctx, leave := r.Use(ctx, tok.Expires, tokenExpired)
	return ctx, func() {
		leave()
		t.mu.Lock()
		defer t.mu.Unlock()
		if !r.Used() && !r.Ended() {
			delete(t.m, tok.ID)
		}
	}
}

// End ends what is done with a token. It is remembered for whoever was let in with it a moment ago.
func (t *tokenRights) End(ctx context.Context, id string, why right.Over) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.of(id).End(ctx, why)
}

// Check looks whether the tokens that are being used are still good: a store may be shared, and they may be revoked at
// another keeper. What cannot be looked up goes on, and is looked up again the next time.
func (t *tokenRights) Check(ctx context.Context, st *store.Store) error {
	for _, id := range t.used() {
		tok, err := st.Token(ctx, id)
		switch {
		case errors.Is(err, store.ErrNotFound), err == nil && !tok.Revoked.IsZero():
			t.End(ctx, id, TokenRevoked)
		case err != nil:
			return err
		case !tok.Expires.IsZero() && !st.Now().Before(tok.Expires): // its clock was set, or this machine was suspended
			t.End(ctx, id, tokenExpired)
		}
	}
	return nil
}

// used returns the tokens that are being used, and forgets those that have ended.
func (t *tokenRights) used() (ids []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, r := range t.m {
		switch {
		case r.Used():
			ids = append(ids, id)
		default:
			delete(t.m, id)
		}
	}
	return ids
}

// Over is what is told where the right to ask has ended; nil while it is in force.
func Over(ctx context.Context) *wire.Problem {
	why := right.Why(ctx)
	if why == "" {
		return nil
	}
	return problem.New(http.StatusUnauthorized, "auth", "%s", why)
}

package keeper

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/route"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/store"
)

type (
	newTokenIn struct{ Body wire.NewToken }
	tokenIn    struct {
		ID string `path:"id" maxLength:"80"`
	}
)

// addTokens adds what makes and revokes tokens.
func (k *Keeper) addTokens(a *route.API) {
	const tag, path = "tokens", "/v1/tokens"
	route.Add(a, route.Route{Method: "GET", Path: path, ID: "list-tokens", Summary: "Tokens, without their secrets", Tag: tag, Need: access.NeedManage},
		func(ctx context.Context, _ *access.Caller, _ *route.None) (*route.Body[wire.Tokens], error) {
			all, err := k.cfg.Store.Tokens(ctx)
			if err != nil {
				return nil, err
			}
			out := &wire.Tokens{Items: make([]wire.Token, len(all))}
			for i, t := range all {
				out.Items[i] = tokenJSON(t)
			}
			return route.JSON(out), nil
		})
	route.Add(a, route.Route{Method: "POST", Path: path, ID: "create-token", Summary: "Make a token; its secret is shown once", Tag: tag, Need: access.NeedManage, Status: http.StatusCreated}, k.createToken)
	route.Add(a, route.Route{Method: "DELETE", Path: path + "/{id}", ID: "revoke-token", Summary: "Revoke a token", Tag: tag, Need: access.NeedManage, Status: http.StatusNoContent,
		About: "Its streams, terminals and runs end, and what it requested and awaits approval is withdrawn. Commands in sessions, and jobs, go on: GET /v1/sessions names what runs, and POST /v1/execs/{id}/stop stops it."},
		func(ctx context.Context, c *access.Caller, in *tokenIn) (*route.None, error) {
			t, err := k.cfg.Store.Token(ctx, in.ID)
			if err != nil {
				return nil, err
			}
			if err := k.sink.Administered(ctx, c, audit.Event{Kind: audit.TokenRevoke, ID: t.ID, Subject: t.Principal, Change: "role " + t.Role}); err != nil {
				return nil, err
			}
			if err := k.cfg.Store.RevokeToken(ctx, in.ID); err != nil {
				return nil, err
			}
			k.callers.Tokens.End(ctx, in.ID, access.TokenRevoked)
			return nil, k.boxes.Runner.TokenRevoked(context.WithoutCancel(ctx), in.ID)
		})
}

func tokenJSON(t store.Token) wire.Token {
	return wire.Token{
		ID: t.ID, Name: t.Name, Principal: t.Principal, Role: t.Role, CreatedBy: t.CreatedBy, Created: t.Created,
		Expires: wire.Moment(t.Expires), Revoked: wire.Moment(t.Revoked), Used: wire.Moment(t.Used),
	}
}

// tokenPrincipal is whom a token may be for. A slash more or a blank would make another principal of it.
var tokenPrincipal = lazyregexp.New(`^(agent|operator)/[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$`)

// alike reports whether two names are of one person: people, and some systems, tell no case apart.
func alike(a, b string) bool { return strings.EqualFold(a, b) }

func (k *Keeper) createToken(ctx context.Context, c *access.Caller, in *newTokenIn) (*route.Body[wire.Token], error) {
	b := &in.Body
	agent := rules.RoleOf(b.Principal) == rules.Agent
	switch {
	case !tokenPrincipal.MatchString(b.Principal):
		return nil, problem.Invalid("principal must be agent/NAME or operator/NAME")
	case agent != (access.Role(b.Role) == access.Agent):
		return nil, problem.Invalid("only an agent's token has the role agent")
	case alike(b.Principal, k.cfg.Principal) && access.Role(b.Role) == access.Approver:
		// It would approve what the account itself asks.
		return nil, problem.New(http.StatusForbidden, "forbidden", "%s makes requests on the socket, and principals cannot approve their own requests", k.cfg.Principal)
	}
	t := store.Token{Name: b.Name, Principal: b.Principal, Role: b.Role, CreatedBy: c.Principal}
	if b.TTLS > 0 {
		t.Expires = k.now().Add(time.Duration(b.TTLS * float64(time.Second)))
	}
	secret := access.TokenPrefix + rand.Text() + rand.Text()
	t, err := k.cfg.Store.CreateToken(ctx, t, secret)
	if err != nil {
		return nil, err
	}
	if err := k.sink.Administered(ctx, c, audit.Event{Kind: audit.TokenCreate, ID: t.ID, Subject: t.Principal, Change: grants(t)}); err != nil {
		return nil, errors.Join(err, k.cfg.Store.RevokeToken(context.WithoutCancel(ctx), t.ID))
	}
	out := tokenJSON(t)
	out.Secret = secret
	return route.JSON(&out), nil
}

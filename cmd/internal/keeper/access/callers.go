package access

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/listen"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/sshopt"
	"github.com/fairlead-ssh/fairlead/session/store"
)

// Callers finds out who asks, on each of the ways to reach a keeper. What is set in it stays as it is.
type Callers struct {
	Principal string                    // the account's own: "operator/ada"
	Inventory string                    // of requests that name none; "" is none
	Door      listen.AgentDoor          // whose callers are agents
	Store     *store.Store              // of tokens; nil where there are none
	Record    Record                    // is told which accounts were there
	Here      func(time.Time) time.Time // what a time of the store is by the clock of this process
	Tokens    tokenRights
}

// TokenPrefix lets people and scanners recognise a secret of ours.
const TokenPrefix = "fairlead_"

// Remote is who asks over TCP: whoever a token was made for. Nothing else says who somebody is, and nobody brings an
// inventory, an agent or another name along.
func (k *Callers) Remote(r *http.Request) (*Caller, *wire.Problem) {
	for _, name := range []string{wire.Principal, wire.Inventory, wire.AuthSock, wire.SSHOptions, wire.Environment} {
		if len(r.Header.Values(name)) > 0 {
			return nil, problem.New(http.StatusForbidden, "forbidden", "%s is for callers on the socket", name)
		}
	}
	scheme, secret, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || !strings.HasPrefix(secret, TokenPrefix) || len(secret) > 200 {
		return nil, problem.New(http.StatusUnauthorized, "auth", "a bearer token is needed")
	}
	t, err := k.Store.UseToken(r.Context(), secret)
	if errors.Is(err, store.ErrToken) {
		return nil, problem.New(http.StatusUnauthorized, "auth", "the token is not valid: it is unknown, revoked or expired; an operator makes another (POST /v1/tokens)")
	}
	if err != nil {
		return nil, unchecked(err)
	}
	role := Role(t.Role)
	if role == Owner || role == Page || allowed[role] == nil {
		return nil, problem.New(http.StatusForbidden, "forbidden", "the token has a role that is unknown here")
	}
	return &Caller{
		Principal: t.Principal, Role: role, Inventory: k.Inventory, Bucket: t.ID, Token: t.ID,
		Use: func(ctx context.Context) (context.Context, func()) {
			inForce := t
			inForce.Expires = k.Here(t.Expires)
			return k.Tokens.use(ctx, inForce)
		},
	}, nil
}

// unchecked says that a token cannot be checked. The caller may be a stranger, so it says nothing of where the store is.
func unchecked(err error) *wire.Problem {
	p := problem.Of(err)
	p.Detail = "the keeper cannot check the token, because its store does not work. Try again"
	return p
}

// FromAgent is who asks on the agent's socket: the agent.
func (k *Callers) FromAgent(r *http.Request) (*Caller, *wire.Problem) {
	uid, ok := listen.AccountIn(r.Context())
	if !ok {
		return nil, problem.New(http.StatusUnauthorized, "auth", "the account of the caller is unknown")
	}
	for _, name := range []string{wire.SSHOptions, wire.Environment} {
		if len(r.Header.Values(name)) > 0 {
			return nil, problem.New(http.StatusForbidden, "forbidden", "%s is for callers on the keeper's own socket", name)
		}
	}
	d := k.Door
	c := &Caller{Principal: d.Principal(), Role: Agent, Inventory: k.Inventory, AuthSock: d.AuthSock, Account: accountOf(uid)}
	k.Record.saw(c)
	return c, nil
}

// Local is who asks over the socket: the account, or an agent that it names. What runs in a session of ours is neither,
// whatever its account: see approval.Trees.Inside for what is recognised, and what cannot be.
func (k *Callers) Local(r *http.Request) (*Caller, *wire.Problem) {
	if err := insideOf(r.Context()); err != nil {
		return nil, problem.New(http.StatusForbidden, "forbidden", "%s", cmdutil.Text(err))
	}
	if len(r.Header.Values("Authorization")) > 0 { // a token of less would have all the rights of the account
		return nil, problem.New(http.StatusForbidden, "forbidden", "a token is for callers over TCP: on the socket the account says who calls; leave Authorization out, and name an agent with %s", wire.Principal)
	}
	c := &Caller{Principal: k.Principal, Role: Owner, Inventory: k.Inventory, Account: k.Record.Own, Pid: pidOf(r.Context())}
	if as := r.Header.Values(wire.Principal); len(as) > 0 {
		if len(as) > 1 || !listen.AgentName.MatchString(as[0]) {
			return nil, problem.New(http.StatusForbidden, "forbidden", "%s can only name an agent (agent/NAME)", wire.Principal)
		}
		c.Principal, c.Role = as[0], Agent
	}
	if inv := r.Header.Get(wire.Inventory); inv != "" {
		if !filepath.IsAbs(inv) || len(inv) > 4096 {
			return nil, problem.New(http.StatusBadRequest, "invalid", "%s is an absolute path", wire.Inventory)
		}
		c.Inventory = filepath.Clean(inv)
	}
	if sock := r.Header.Get(wire.AuthSock); sock != "" {
		if !filepath.IsAbs(sock) || len(sock) > 4096 {
			return nil, problem.New(http.StatusBadRequest, "invalid", "%s is an absolute path", wire.AuthSock)
		}
		c.AuthSock = sock
	}
	if word := r.Header.Get(wire.SSHOptions); word != "" {
		if forAgents(r) {
			return nil, problem.New(http.StatusBadRequest, "invalid", "%s is not for %s", wire.SSHOptions, r.URL.Path)
		}
		ssh, err := sshopt.Parse(word)
		if err != nil {
			return nil, problem.New(http.StatusBadRequest, "invalid", "%s: %v", wire.SSHOptions, err)
		}
		if err := ssh.MayNot(c.Principal); err != nil {
			return nil, problem.New(http.StatusForbidden, "denied", "%v", err)
		}
		c.Ssh = word
	}
	if word := r.Header.Get(wire.Environment); word != "" {
		if c.Role != Owner || forAgents(r) {
			return nil, problem.New(http.StatusForbidden, "forbidden", "%s is for the account itself, and the caller is %s", wire.Environment, c.Principal)
		}
		if _, err := sshopt.ParseEnvironment(word); err != nil {
			return nil, problem.New(http.StatusBadRequest, "invalid", "%s: %v", wire.Environment, err)
		}
		c.Env = word
	}
	k.Record.saw(c)
	return c, nil
}

// forAgents reports whether a request is for what serves agents alone.
func forAgents(r *http.Request) bool {
	return strings.HasPrefix(r.URL.Path, "/agent/") || r.URL.Path == "/mcp" || r.URL.Path == "/v1/mcp"
}

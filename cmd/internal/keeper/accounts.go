package keeper

import (
	"net/http"
	"os"
	"strings"
	"sync"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/listen"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// agent is who asks on the agent's socket: the agent.
func (k *Keeper) agent(r *http.Request) (*caller, *wire.Problem) {
	uid, ok := listen.AccountIn(r.Context())
	if !ok {
		return nil, problem.New(http.StatusUnauthorized, "auth", "the account of the caller is unknown")
	}
	if len(r.Header.Values(wire.SSHOptions)) > 0 {
		return nil, problem.New(http.StatusForbidden, "forbidden", "%s is for callers on the keeper's own socket", wire.SSHOptions)
	}
	d := k.cfg.AgentDoor
	c := &caller{principal: d.Principal(), role: Agent, inventory: k.cfg.Inventory, authSock: d.AuthSock, account: accountOf(uid)}
	k.sink.saw(c)
	return c, nil
}

// account is that of a caller, as the system says.
type account struct {
	uid   int
	apart bool // it cannot do what the keeper's account can
}

// accountOf looks at a uid. Root could be any account, and so the keeper's.
func accountOf(uid int) *account { return &account{uid, uid != 0 && uid != os.Geteuid()} }

// separation says what the gate is worth to a caller: a program of the keeper's own account could run ssh itself.
func (a *account) separation() string {
	if a != nil && a.apart {
		return "split-uid"
	}
	return "shared-uid"
}

// accounts knows which accounts were at the agent's socket, for events that no request brings along.
type accounts struct {
	mu    sync.Mutex // guards what follows
	by    map[string]*account
	mixed map[string]bool // principals that several accounts, or the keeper's own, have acted as
}

func (a *accounts) saw(c *caller) {
	if c == nil || !strings.HasPrefix(c.principal, "agent/") {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	was := a.by[c.principal]
	switch {
	case was == nil && len(a.by) < maxRealms:
		a.by[c.principal] = c.account
	case was != nil && *was != *c.account:
		a.mixed[c.principal] = true
	}
}

// of returns the account that alone has acted as a principal; nil where that is not one.
func (a *accounts) of(principal string) *account {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.mixed[principal] {
		return nil
	}
	return a.by[principal]
}

package access

import (
	"os"
	"strings"
	"sync"
)

// account is that of a caller, as the system says.
type account struct {
	uid   int
	apart bool // it cannot do what the keeper's account can
}

// accountOf looks at a uid. Root could be any account, and so the keeper's.
func accountOf(uid int) *account { return &account{uid, uid != 0 && uid != os.Geteuid()} }

// Separation says what the gate is worth to a caller: a program of the keeper's own account could run ssh itself.
func (a *account) Separation() string {
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

func (a *accounts) saw(c *Caller) {
	if c == nil || !strings.HasPrefix(c.Principal, "agent/") {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	was := a.by[c.Principal]
	switch {
	case was == nil && len(a.by) < maxAccounts:
		a.by[c.Principal] = c.Account
	case was != nil && *was != *c.Account:
		a.mixed[c.Principal] = true
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

// maxAccounts bounds how many principals are known with their accounts.
const maxAccounts = 256

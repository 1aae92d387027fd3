package realm

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/connect"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/livepolicy"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/sshhosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/redact"
	"github.com/fairlead-ssh/fairlead/session/registry"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// max bounds how many realms there are.
const maxRealms = 256

// Config says what realms are made of. All is required but what says otherwise.
type Config struct {
	Inventory   string         // the keeper's own; "" means none
	Usual       string         // where one is without anybody naming it; "" means nowhere
	SSHHosts    *sshhosts.Book // nil knows no hosts of ssh_config
	Inventories *connect.Inventories
	Policy      *livepolicy.Policy
	Trees       *approval.Trees
	Record      access.Record
	Outputs     audit.OutputStore // nil keeps no outputs
	Secrets     *redact.Set
	Ask         sshconn.Ask // asks the caller for whom a host is dialed

	Approver        policy.Approver
	ApprovalTimeout time.Duration

	Trace  *session.Trace                                                     // of all realms
	Done   func(principal string, res *session.Result)                        // is told of the end of each command that somebody has asked for
	Closed func(session string)                                               // is told of sessions that are closed
	Past   func(ctx context.Context, c *access.Caller, idOrName string) error // says why there is no session that is so called
	MCP    func(*Realm) (http.Handler, error)                                 // serves agents over streamable HTTP
	Go     func(func())                                                       // starts a goroutine that the keeper waits for
}

// Book holds the realms of all principals. Make one with NewBook. Its methods may be called concurrently.
type Book struct {
	cfg Config

	mu     sync.Mutex // guards what follows
	realms map[Key]*Realm
	closed bool
}

// NewBook returns one without realms. Shut it.
func NewBook(cfg Config) *Book { return &Book{cfg: cfg, realms: map[Key]*Realm{}} }

// source is the inventory of a realm. The keeper's own runs its programs whoever asks.
func (b *Book) source(key Key) connect.Source {
	return connect.Source{Path: key.Inventory, Kept: key.Inventory != b.cfg.Inventory && rules.RoleOf(key.Principal) == rules.Agent}
}

// Of returns the realm of a caller, and what to call when the request is over.
func (b *Book) Of(c *access.Caller) (*Realm, func(), error) {
	key := Key{c.Principal, c.Inventory, c.Ssh, c.Env}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, nil, problem.ErrEnding
	}
	r := b.realms[key]
	if r == nil {
		if len(b.realms) >= maxRealms && !b.evict() {
			return nil, nil, problem.ErrTooMany
		}
		var err error
		if r, err = b.make(key); err != nil {
			return nil, nil, err
		}
		b.realms[key] = r
	}
	r.used++
	return r, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		r.used--
	}, nil
}

// evict closes a realm that nobody uses and that holds no session. b.mu is held; what is closed has nothing to wait for.
func (b *Book) evict() bool {
	for key, r := range b.realms {
		if r.used == 0 && len(r.Reg.List(key.Principal)) == 0 {
			delete(b.realms, key)
			b.cfg.Go(func() { _ = r.close() })
			return true
		}
	}
	return false
}

// All returns a principal's realms, the one of the request first.
func (b *Book) All(c *access.Caller) []*Realm {
	b.mu.Lock()
	defer b.mu.Unlock()
	var all []*Realm
	for key, r := range b.realms {
		switch {
		case key.Principal != c.Principal:
		case key == Key{c.Principal, c.Inventory, c.Ssh, c.Env}:
			all = append([]*Realm{r}, all...)
		default:
			all = append(all, r)
		}
	}
	return all
}

// Entry finds a principal's session, whatever inventory the request names.
func (b *Book) Entry(ctx context.Context, c *access.Caller, idOrName string) (*registry.Entry, error) {
	var err error
	for _, r := range b.All(c) {
		e, rerr := r.Reg.Get(c.Principal, idOrName)
		if rerr == nil {
			return e, nil
		}
		if problem.CodeOf(rerr) != registry.CodeNotFound {
			err = rerr
		}
	}
	if err == nil {
		err = b.cfg.Past(ctx, c, idOrName)
	}
	return nil, err
}

// Exec finds a principal's command.
func (b *Book) Exec(c *access.Caller, id string) (*registry.Exec, error) {
	var err error = problem.NotFound("command", id)
	for _, r := range b.All(c) {
		x, rerr := r.Reg.Exec(c.Principal, id)
		if rerr == nil {
			return x, nil
		}
		if problem.CodeOf(rerr) != registry.CodeNotFound {
			err = rerr
		}
	}
	return nil, err
}

// Everybodys returns all sessions, by whose they are.
func (b *Book) Everybodys() map[string][]*registry.Entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := map[string][]*registry.Entry{}
	for key, r := range b.realms {
		all[key.Principal] = append(all[key.Principal], r.Reg.List(key.Principal)...)
	}
	return all
}

// Sessions counts those that are open.
func (b *Book) Sessions() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for key, r := range b.realms {
		n += len(r.Reg.List(key.Principal))
	}
	return n
}

// Shut makes no more realms. What it returns closes those that there are, and returns when all is gone.
func (b *Book) Shut() (end func() error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := slices.Collect(maps.Values(b.realms))
	b.closed, b.realms = true, map[Key]*Realm{}
	return func() error {
		var wg sync.WaitGroup
		errs := make([]error, len(all))
		for i, r := range all {
			wg.Go(func() { errs[i] = r.close() })
		}
		wg.Wait()
		return errors.Join(errs...)
	}
}

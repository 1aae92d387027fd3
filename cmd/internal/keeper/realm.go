package keeper

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/dialer"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/connect"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/livepolicy"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/mcpserver"
	"github.com/fairlead-ssh/fairlead/cmd/internal/question"
	"github.com/fairlead-ssh/fairlead/cmd/internal/sshhosts"
	"github.com/fairlead-ssh/fairlead/cmd/internal/sshopt"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/jobwork"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/redact"
	"github.com/fairlead-ssh/fairlead/session/registry"
	"github.com/fairlead-ssh/fairlead/session/screen/emulate"
	"github.com/fairlead-ssh/fairlead/session/telemetry"
)

// realm is what one principal has with one inventory: sessions, commands and connections.
type realm struct {
	key      realmKey
	operator bool
	inv      func() (*hosts.Inventory, error) // as the principal logs in to its hosts
	options  sshopt.Set                       // how hosts are reached
	book     *sshhosts.Book                   // nil knows no hosts
	conn     *connect.Connector
	pool     *session.Pool
	reg      *registry.Registry
	jobs     *jobwork.Book
	judge    livepolicy.Judge
	state    *states
	able     abilities
	commands sync.Map                     // ids of sessions that are for a command in a sandbox
	mcp      func() (http.Handler, error) // for clients over streamable HTTP, made once
	used     int                          // requests in progress; guarded by the Keeper's mu
}

// realmKey tells realms apart. Calls that reach hosts in another way share no connection, and so no realm.
type realmKey struct{ principal, inventory, ssh string }

// source is the inventory of a realm. The keeper's own runs its programs whoever asks.
func (k *Keeper) source(key realmKey) connect.Source {
	return connect.Source{Path: key.inventory, Kept: key.inventory != k.cfg.Inventory && rules.RoleOf(key.principal) == rules.Agent}
}

func (k *Keeper) newRealm(key realmKey) (*realm, error) {
	ssh, err := sshopt.Parse(key.ssh)
	if err != nil {
		return nil, err
	}
	r := &realm{key: key, options: ssh, operator: rules.RoleOf(key.principal) == rules.Operator, state: newStates(), book: k.cfg.SSHHosts}
	r.judge = livepolicy.Judge{Live: k.policy, Operator: r.operator}
	r.inv = func() (*hosts.Inventory, error) {
		inv, err := k.inventories.As(key.principal, k.source(key))
		if err != nil && k.unlisted(key.inventory, err) {
			if ssh, serr := r.ssh(); serr != nil {
				return nil, fmt.Errorf("%w; the hosts of ssh_config cannot be read: %w", err, serr)
			} else if ssh.Len() > 0 {
				return ssh, nil
			}
		}
		return inv, err
	}
	if r.conn, err = connect.NewConnector(r.inv, k.source(key).Kept, key.principal, k.trees.Connected, k.ask); err != nil {
		return nil, err
	}
	r.conn.HostKeysChange = dialer.RecordHostKeys(func() (audit.Sink, error) { return k.sink, nil }, key.principal)
	r.pool, err = session.NewPool(session.PoolConfig{
		Dial: r.conn.Dial, MaxDials: session.DefaultForks, FullHint: cmdutil.FullHint, DialTimeout: -1, // a dial has limits of its own, which stand still while a key is touched
		Session: session.Config{
			Principal: key.principal, Policy: r.judge, Audit: mcpserver.Labeled(k.sink), Redact: cmdutil.Redactor(k.secrets), Sending: cmdutil.Learner(k.secrets, key.principal),
			CleanEnvIf: func() bool { return k.cleanEnv(key.principal) },
			Approver:   k.approver(), ApprovalTimeout: k.cfg.ApprovalTimeout, Trace: k.trace(r), Outputs: k.cfg.Outputs,
			Become: question.Become(r.conn.Ask),
		},
	})
	if err != nil {
		return nil, errors.Join(err, r.conn.Close())
	}
	who := redact.Guarded
	if r.operator {
		who = redact.Everybody // operators get exact bytes
	}
	r.reg, err = registry.New(registry.Config{
		Open: r.pool.Open, OpenOnce: r.pool.OpenOnce, Closed: func(e *registry.Entry) { k.desk.SessionClosed(e.ID()) },
		Secrets: k.secrets, Audience: who, Render: emulate.Render,
	})
	if err != nil {
		return nil, errors.Join(err, r.pool.Close(), r.conn.Close())
	}
	r.jobs = jobwork.New(jobwork.Config{Pool: r.pool, Host: r.host, Secrets: k.secrets, Audience: who})
	r.mcp = sync.OnceValues(func() (http.Handler, error) {
		s, err := k.mcpServer(r, nil, nil)
		if err != nil {
			return nil, err
		}
		return s.HTTP(), nil
	})
	return r, nil
}

// ssh returns the hosts of ssh_config that the principal may use: an agent none.
func (r *realm) ssh() (*hosts.Inventory, error) {
	if !r.operator || r.book == nil {
		return &hosts.Inventory{}, nil
	}
	return r.book.Inventory(r.options.File)
}

// unlisted reports whether err says that there is no inventory, and nobody named a place for one.
func (k *Keeper) unlisted(path string, err error) bool {
	return path == "" || path == k.cfg.Usual && errors.Is(err, fs.ErrNotExist)
}

// close ends every session of the realm.
func (r *realm) close() error {
	defer r.jobs.Close()
	return errors.Join(r.reg.Close(), r.pool.Close(), r.conn.Close())
}

// trace tells what happens in a realm to those who listen and count.
func (k *Keeper) trace(r *realm) *session.Trace {
	return telemetry.Join(k.observed, &session.Trace{
		DialDone: func(_ context.Context, h hosts.Host, _ session.Peer, _ time.Duration, err error) {
			r.state.dialed(h.Name, err)
		},
		ConnClosed: func(_ context.Context, h hosts.Host, _ error) { r.state.closed(h.Name) },
		Done: func(_ context.Context, res session.Result) {
			if res.Own || res.Decision.Rule == livepolicy.RuleOwn {
				return // nobody has asked for it
			}
			if _, ours := r.commands.Load(res.Session); ours {
				return // its command's end is told, once that is kept
			}
			k.events.Done(r.key.principal, &res)
			k.tellDone(r.key.principal, &res)
		},
	})
}

// realm returns that of a caller, and what to call when the request is over.
func (k *Keeper) realm(c *access.Caller) (*realm, func(), error) {
	key := realmKey{c.Principal, c.Inventory, c.Ssh}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.closed {
		return nil, nil, problem.ErrEnding
	}
	r := k.realms[key]
	if r == nil {
		if len(k.realms) >= maxRealms && !k.evict() {
			return nil, nil, problem.ErrTooMany
		}
		var err error
		if r, err = k.newRealm(key); err != nil {
			return nil, nil, err
		}
		k.realms[key] = r
	}
	r.used++
	return r, func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		r.used--
	}, nil
}

// evict closes a realm that nobody uses and that holds no session. k.mu is held; what is closed has nothing to wait for.
func (k *Keeper) evict() bool {
	for key, r := range k.realms {
		if r.used == 0 && len(r.reg.List(key.principal)) == 0 {
			delete(k.realms, key)
			k.leaving.Go(func() { _ = r.close() })
			return true
		}
	}
	return false
}

// realmsOf returns a principal's realms, the one of the request first.
func (k *Keeper) realmsOf(c *access.Caller) []*realm {
	k.mu.Lock()
	defer k.mu.Unlock()
	var all []*realm
	for key, r := range k.realms {
		switch {
		case key.principal != c.Principal:
		case key.inventory == c.Inventory && key.ssh == c.Ssh:
			all = append([]*realm{r}, all...)
		default:
			all = append(all, r)
		}
	}
	return all
}

// entry finds a principal's session, whatever inventory the request names.
func (k *Keeper) entry(ctx context.Context, c *access.Caller, idOrName string) (*registry.Entry, error) {
	var err error
	for _, r := range k.realmsOf(c) {
		e, rerr := r.reg.Get(c.Principal, idOrName)
		if rerr == nil {
			return e, nil
		}
		if problem.CodeOf(rerr) != registry.CodeNotFound {
			err = rerr
		}
	}
	if err == nil {
		err = k.past(ctx, c, idOrName)
	}
	return nil, err
}

// exec finds a principal's command.
func (k *Keeper) exec(c *access.Caller, id string) (*registry.Exec, error) {
	var err error = problem.NotFound("command", id)
	for _, r := range k.realmsOf(c) {
		x, rerr := r.reg.Exec(c.Principal, id)
		if rerr == nil {
			return x, nil
		}
		if problem.CodeOf(rerr) != registry.CodeNotFound {
			err = rerr
		}
	}
	return nil, err
}

// states knows which hosts are connected, from what a pool tells.
type states struct {
	mu sync.Mutex
	m  map[string]*state
}

type state struct {
	open int
	err  error // of the last attempt
}

func newStates() *states { return &states{m: map[string]*state{}} }

func (s *states) of(host string) *state {
	n := s.m[host]
	if n == nil {
		n = &state{}
		s.m[host] = n
	}
	return n
}

func (s *states) dialed(host string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.of(host)
	if n.err = err; err == nil {
		n.open++
	}
}

func (s *states) closed(host string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of(host).open--
}

// text tells "connected", or why the last attempt failed; "" where there was none.
func (s *states) text(host string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch n := s.m[host]; {
	case n == nil:
		return ""
	case n.open > 0:
		return "connected"
	case n.err != nil:
		return cmdutil.Why(n.err)
	}
	return ""
}

// cleanEnv reports whether the policy starts a principal's shells with a clean environment. One that cannot be read does.
func (k *Keeper) cleanEnv(principal string) bool {
	engine, err := k.policy.Current()
	return err != nil || engine.Limits(principal).CleanEnv
}

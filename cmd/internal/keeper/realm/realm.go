// Package realm owns what each principal has with one inventory: its hosts and how they are reached, its connections, sessions,
// commands and jobs, and what the policy lets it ask for.
//
// A [Book] holds the realms of all principals. Requests borrow one each, and those that nobody uses make place for others.
package realm

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/dialer"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/connect"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/livepolicy"
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

// Realm is what one principal has with one inventory: sessions, commands and connections.
type Realm struct {
	Key      Key
	Operator bool                             // commands are an operator's
	Inv      func() (*hosts.Inventory, error) // as the principal logs in to its hosts
	options  sshopt.Set                       // how hosts are reached
	sshHosts *sshhosts.Book                   // nil knows no hosts of ssh_config
	book     *Book
	Conn     *connect.Connector
	Pool     *session.Pool
	Reg      *registry.Registry
	Jobs     *jobwork.Book
	Judge    livepolicy.Judge
	state    *states
	able     abilities
	commands sync.Map                     // ids of sessions that are for a command in a sandbox
	MCP      func() (http.Handler, error) // for clients over streamable HTTP, made once
	used     int                          // requests in progress; guarded by the book's mu
}

// Key tells realms apart. Calls that reach hosts in another way share no connection, and so no realm.
type Key struct {
	Principal, Inventory string
	SSH, Env             string // see access.Caller
}

func (b *Book) make(key Key) (*Realm, error) {
	ssh, err := sshopt.Parse(key.SSH)
	if err != nil {
		return nil, err
	}
	env, err := sshopt.ParseEnvironment(key.Env)
	if err != nil {
		return nil, err
	}
	r := &Realm{Key: key, options: ssh, sshHosts: b.cfg.SSHHosts, Operator: rules.RoleOf(key.Principal) == rules.Operator, state: newStates(), book: b}
	if key.Env != "" && r.sshHosts != nil {
		loader := r.sshHosts.Loader
		loader.LookupEnv = env.Over(os.LookupEnv)
		r.sshHosts = &sshhosts.Book{Loader: loader}
	}
	r.Judge = livepolicy.Judge{Live: b.cfg.Policy, Operator: r.Operator}
	r.Inv = func() (*hosts.Inventory, error) {
		inv, err := b.cfg.Inventories.As(key.Principal, b.source(key))
		if err != nil && b.unlisted(key.Inventory, err) {
			if ssh, serr := r.ssh(); serr != nil {
				return nil, fmt.Errorf("%w; the hosts of ssh_config cannot be read: %w", err, serr)
			} else if ssh.Len() > 0 {
				return ssh, nil
			}
		}
		return inv, err
	}
	if r.Conn, err = connect.NewConnector(r.Inv, b.source(key).Kept, key.Principal, env, b.cfg.Trees.Connected, b.cfg.Ask); err != nil {
		return nil, err
	}
	r.Conn.HostKeysChange = dialer.RecordHostKeys(func() (audit.Sink, error) { return b.cfg.Record, nil }, key.Principal)
	r.Pool, err = session.NewPool(session.PoolConfig{
		Dial: r.Conn.Dial, Login: connect.AuthSock, MaxDials: session.DefaultForks, FullHint: cmdutil.FullHint, DialTimeout: -1, // a dial has limits of its own, which stand still while a key is touched
		Session: session.Config{
			Principal: key.Principal, Policy: r.Judge, Audit: mcpserver.Labeled(b.cfg.Record), Redact: cmdutil.Redactor(b.cfg.Secrets), Sending: cmdutil.Learner(b.cfg.Secrets, key.Principal),
			CleanEnvIf: func() bool { return b.cleanEnv(key.Principal) },
			Approver:   b.cfg.Approver, ApprovalTimeout: b.cfg.ApprovalTimeout, Trace: b.trace(r), Outputs: b.cfg.Outputs,
			Become: question.Become(r.Conn.Ask),
		},
	})
	if err != nil {
		return nil, errors.Join(err, r.Conn.Close())
	}
	who := redact.Guarded
	if r.Operator {
		who = redact.Everybody // operators get exact bytes
	}
	r.Reg, err = registry.New(registry.Config{
		Open: r.Pool.Open, OpenOnce: r.Pool.OpenOnce, Closed: func(e *registry.Entry) { b.cfg.Closed(e.ID()) },
		Listed:  r.listed,
		Secrets: b.cfg.Secrets, Audience: who, Render: emulate.Render,
	})
	if err != nil {
		return nil, errors.Join(err, r.Pool.Close(), r.Conn.Close())
	}
	r.Jobs = jobwork.New(jobwork.Config{Pool: r.Pool, Host: r.Host, Secrets: b.cfg.Secrets, Audience: who})
	r.MCP = sync.OnceValues(func() (http.Handler, error) { return b.cfg.MCP(r) })
	return r, nil
}

// ssh returns the hosts of ssh_config that the principal may use: an agent none.
func (r *Realm) ssh() (*hosts.Inventory, error) {
	if !r.Operator || r.sshHosts == nil {
		return &hosts.Inventory{}, nil
	}
	return r.sshHosts.Inventory(r.options.File)
}

// unlisted reports whether err says that there is no inventory, and nobody named a place for one.
func (b *Book) unlisted(path string, err error) bool {
	return path == "" || path == b.cfg.Usual && errors.Is(err, fs.ErrNotExist)
}

// close ends every session of the realm.
func (r *Realm) close() error {
	defer r.Jobs.Close()
	return errors.Join(r.Reg.Close(), r.Pool.Close(), r.Conn.Close())
}

// cleanEnv reports whether the policy starts a principal's shells with a clean environment. One that cannot be read does.
func (b *Book) cleanEnv(principal string) bool {
	engine, err := b.cfg.Policy.Current()
	return err != nil || engine.Limits(principal).CleanEnv
}

// trace tells what happens in a realm to those who listen and count.
func (b *Book) trace(r *Realm) *session.Trace {
	return telemetry.Join(b.cfg.Trace, &session.Trace{
		DialDone: func(_ context.Context, h hosts.Host, _ session.Peer, _ time.Duration, err error) {
			r.state.dialed(h.Name, err)
		},
		ConnClosed: func(_ context.Context, h hosts.Host, _ error) { r.state.closed(h.Name) },
		Done: func(_ context.Context, res session.Result) {
			if res.Own || res.Decision.Rule == livepolicy.RuleOwn {
				return // nobody has asked for it
			}
			if r.IsOurs(res.Session) {
				return // its command's end is told, once that is kept
			}
			b.cfg.Done(r.Key.Principal, &res)
		},
	})
}

// Ours notes that a session is for a command in a sandbox, until the returned function is called.
func (r *Realm) Ours(session string) func() {
	r.commands.Store(session, nil)
	return func() { r.commands.Delete(session) }
}

// IsOurs reports whether a session is for a command in a sandbox.
func (r *Realm) IsOurs(session string) bool {
	_, ours := r.commands.Load(session)
	return ours
}

// State tells "connected", or why the last attempt to connect to a host failed; "" where there was none.
func (r *Realm) State(host string) string { return r.state.text(host) }

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

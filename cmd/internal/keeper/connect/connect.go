package connect

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"sync"

	"github.com/fairlead-ssh/fairlead/cmd/internal/dialer"
	"github.com/fairlead-ssh/fairlead/cmd/internal/sshopt"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/inventory"
	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// maxFiles bounds how many inventories, and how many agents, are kept at a time.
const maxFiles = 64

// Inventories are those that callers have named, each followed from its first use on.
type Inventories struct {
	mu     sync.Mutex // held while one is read for the first time
	live   map[Source]*inventory.Live
	closed bool
}

// Source is an inventory, and whether its programs may run: an agent that names it itself starts none.
type Source struct {
	Path string
	Kept bool
}

func NewInventories() *Inventories { return &Inventories{live: map[Source]*inventory.Live{}} }

var errNoInventory = errors.New("the request names no inventory, and the default inventory does not exist: only user@host can be reached")

// current returns the inventory at an absolute path as it was last read without error.
func (i *Inventories) current(at Source) (*hosts.Inventory, error) {
	if at.Path == "" {
		return nil, errNoInventory
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if l := i.live[at]; l != nil {
		return l.Current(), nil
	}
	if i.closed {
		return nil, session.ErrClosed
	}
	if len(i.live) >= maxFiles {
		return nil, fmt.Errorf("%d inventories are in use already, and no more can be", len(i.live))
	}
	l, err := inventory.Watch(at.Path, inventory.WatchOptions{Options: inventory.Options{Kept: at.Kept}})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w: write one, or name one with -i", err)
	case err != nil:
		return nil, err
	}
	i.live[at] = l
	return l.Current(), nil
}

// As returns current as a principal logs in to its hosts.
func (i *Inventories) As(principal string, at Source) (*hosts.Inventory, error) {
	inv, err := i.current(at)
	if err != nil {
		return nil, err
	}
	return inv.As(principal), nil
}

// Reload reads one that is in use again, now.
func (i *Inventories) Reload(at Source) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if l := i.live[at]; l != nil {
		return l.Reload()
	}
	return errNoInventory
}

func (i *Inventories) Close() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.closed = true
	for _, l := range i.live {
		l.Close()
	}
	clear(i.live)
}

type authSockKey struct{}

// WithAuthSock makes what is dialed for ctx log in through the caller's agent.
func WithAuthSock(ctx context.Context, sock string) context.Context {
	return context.WithValue(ctx, authSockKey{}, sock)
}

// AuthSock is the agent that what is dialed for ctx logs in through; "" is none.
func AuthSock(ctx context.Context) string {
	sock, _ := ctx.Value(authSockKey{}).(string)
	return sock
}

// Connector dials hosts of one inventory. Over SSH it does so with the agent of whoever asks, and asks that caller.
type Connector struct {
	lookup  func(name string) (hosts.Host, bool)
	outside func(hosts.Host) hosts.Host
	other   *dialer.Dialer
	made    func(net.Conn) // sees each connection of SSH
	Ask     sshconn.Ask    // nil for agents; stays as it is
	kept    bool           // see Source
	env     sshopt.Environment

	HostKeysChange func(context.Context, sshconn.HostKeyChange) error // see sshconn.DefaultConfig; stays as it is

	mu  sync.Mutex // guards ssh
	ssh map[string]*sshconn.Dialer
}

// NewConnector returns one for an inventory as a principal logs in to its hosts. kept is that of its Source: then configurations
// that the inventory names start no programs either. env is what the callers' variables say where ssh_config asks for some. made
// sees each connection.
func NewConnector(inv func() (*hosts.Inventory, error), kept bool, principal string, env sshopt.Environment, made func(net.Conn), ask sshconn.Ask) (*Connector, error) {
	cfg := dialer.Config{Inventory: inv, Principal: principal}
	other, err := dialer.New(cfg)
	if err != nil {
		return nil, err
	}
	if hosts.RoleOf(principal) == hosts.RoleAgent {
		ask = nil
	}
	return &Connector{Ask: ask, kept: kept, env: env, lookup: cfg.Lookup, outside: cfg.Outside(), other: other, made: made, ssh: map[string]*sshconn.Dialer{}}, nil
}

// ErrNoDial says that there is no connection, and that none was to be made.
var ErrNoDial = errors.New("there is no connection to it")

type noDialKey struct{}

// WithoutDial returns a context in which Dial makes no connection.
func WithoutDial(ctx context.Context) context.Context {
	return context.WithValue(ctx, noDialKey{}, true)
}

func (c *Connector) Dial(ctx context.Context, h hosts.Host) (session.Transport, error) {
	if ctx.Value(noDialKey{}) != nil {
		return nil, ErrNoDial
	}
	if h.Transport != hosts.SSH && h.Transport != "" {
		return c.other.Dial(ctx, h)
	}
	d, err := c.through(AuthSock(ctx))
	if err != nil {
		return nil, err
	}
	return d.Dial(ctx, h)
}

// Way tells how a host is reached and logged in to from one that another way leads to; "" where that cannot be told, or is
// all in the host itself.
func (c *Connector) Way(h hosts.Host) string {
	if h.Transport != hosts.SSH && h.Transport != "" {
		return ""
	}
	d, err := c.through("")
	if err != nil {
		return ""
	}
	way, err := d.Way(h)
	if err != nil {
		return "" // dialing says why
	}
	return way
}

// through returns what dials with an agent; "" is none.
func (c *Connector) through(sock string) (*sshconn.Dialer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d := c.ssh[sock]; d != nil {
		return d, nil
	}
	variables := c.env.Over(os.LookupEnv)
	dir, _ := c.env.Lookup("PWD") // of the caller, where that counts
	d, err := sshconn.Default(dialer.SSH(sshconn.DefaultConfig{
		Loader: sshconfig.Loader{Environ: c.env.Environ(), Dir: dir, LookupEnv: func(name string) (string, bool) {
			if name == "SSH_AUTH_SOCK" {
				return sock, sock != ""
			}
			return variables(name)
		}},
		Ask: c.Ask, Forget: true, NoPrograms: c.kept, HostKeysChange: c.HostKeysChange,
		Network: sshconn.Network{Lookup: c.lookup, Outside: c.outside, Connected: c.made},
	}))
	if err != nil {
		return nil, err
	}
	if len(c.ssh) >= maxFiles {
		clear(c.ssh) // dialers hold nothing that a new one would not find again
	}
	c.ssh[sock] = d
	return d, nil
}

func (c *Connector) Close() error { return c.other.Close() }

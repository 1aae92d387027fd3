package keeper

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"sync"

	"github.com/fairlead-ssh/fairlead/cmd/internal/dialer"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/inventory"
	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// maxFiles bounds how many inventories, and how many agents, are kept at a time.
const maxFiles = 64

// inventories are those that callers have named, each followed from its first use on.
type inventories struct {
	mu     sync.Mutex // held while one is read for the first time
	live   map[source]*inventory.Live
	closed bool
}

// source is an inventory, and whether its programs may run: an agent that names it itself starts none.
type source struct {
	path string
	kept bool
}

func newInventories() *inventories { return &inventories{live: map[source]*inventory.Live{}} }

var errNoInventory = errors.New("the request names no inventory, and the default inventory does not exist: only user@host can be reached")

// current returns the inventory at an absolute path as it was last read without error.
func (i *inventories) current(at source) (*hosts.Inventory, error) {
	if at.path == "" {
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
	l, err := inventory.Watch(at.path, inventory.WatchOptions{Options: inventory.Options{Kept: at.kept}})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w: write one, or name one with -i", err)
	case err != nil:
		return nil, err
	}
	i.live[at] = l
	return l.Current(), nil
}

// as returns current as a principal logs in to its hosts.
func (i *inventories) as(principal string, at source) (*hosts.Inventory, error) {
	inv, err := i.current(at)
	if err != nil {
		return nil, err
	}
	return inv.As(principal), nil
}

// reload reads one that is in use again, now.
func (i *inventories) reload(at source) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if l := i.live[at]; l != nil {
		return l.Reload()
	}
	return errNoInventory
}

func (i *inventories) close() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.closed = true
	for _, l := range i.live {
		l.Close()
	}
	clear(i.live)
}

type authSockKey struct{}

// withAuthSock makes what is dialed for ctx log in through the caller's agent.
func withAuthSock(ctx context.Context, sock string) context.Context {
	return context.WithValue(ctx, authSockKey{}, sock)
}

// connector dials hosts of one inventory. Over SSH it does so with the agent of whoever asks, and asks that caller.
type connector struct {
	lookup  func(name string) (hosts.Host, bool)
	outside func(hosts.Host) hosts.Host
	other   *dialer.Dialer
	made    func(net.Conn) // sees each connection of SSH
	ask     sshconn.Ask    // nil for agents

	mu  sync.Mutex // guards ssh
	ssh map[string]*sshconn.Dialer
}

// newConnector returns one for an inventory as a principal logs in to its hosts. made sees each connection.
func newConnector(inv func() (*hosts.Inventory, error), principal string, made func(net.Conn), ask sshconn.Ask) (*connector, error) {
	cfg := dialer.Config{Inventory: inv, Principal: principal}
	other, err := dialer.New(cfg)
	if err != nil {
		return nil, err
	}
	if hosts.RoleOf(principal) == hosts.RoleAgent {
		ask = nil
	}
	return &connector{ask: ask, lookup: cfg.Lookup, outside: cfg.Outside(), other: other, made: made, ssh: map[string]*sshconn.Dialer{}}, nil
}

func (c *connector) dial(ctx context.Context, h hosts.Host) (session.Transport, error) {
	if h.Transport != hosts.SSH && h.Transport != "" {
		return c.other.Dial(ctx, h)
	}
	sock, _ := ctx.Value(authSockKey{}).(string)
	d, err := c.through(sock)
	if err != nil {
		return nil, err
	}
	return d.Dial(ctx, h)
}

// way tells how a host is reached and logged in to from one that another way leads to; "" where that cannot be told, or is
// all in the host itself.
func (c *connector) way(h hosts.Host) string {
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
func (c *connector) through(sock string) (*sshconn.Dialer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d := c.ssh[sock]; d != nil {
		return d, nil
	}
	d, err := sshconn.Default(dialer.SSH(sshconn.DefaultConfig{
		Loader: sshconfig.Loader{LookupEnv: func(name string) (string, bool) {
			if name == "SSH_AUTH_SOCK" {
				return sock, sock != ""
			}
			return os.LookupEnv(name)
		}},
		Ask: c.ask, Forget: true,
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

func (c *connector) close() error { return c.other.Close() }

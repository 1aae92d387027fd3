package sshconn

import (
	"context"
	"errors"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/allowed"
	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/clock"
	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/keyring"
)

// Defaults of Config.
const (
	DefaultConnectTimeout = 15 * time.Second
	DefaultKeepAlive      = 30 * time.Second
	DefaultKeepAliveMax   = 3
)

// HostKeys decides whether a host's key is to be trusted. *[knownhosts.DB] implements it.
type HostKeys interface {
	// Check returns nil for a trusted key. Its other answers should be knownhosts' errors.
	Check(q knownhosts.Query, key ssh.PublicKey) error
	// Algorithms orders the host key algorithms to offer.
	Algorithms(q knownhosts.Query) []string
}

// Config says how a Dialer connects when nothing is read from OpenSSH's files: to Host.Addr, else Host.Name, on
// Host.Port, else 22, as Host.User, which is required.
type Config struct {
	// HostKeys decides whether to trust a host. Required: there is no permissive default.
	HostKeys HostKeys

	// Auth returns the keys to log in to h with, in the order to try. Required. It is called once per connection, and
	// after the server has shown its key.
	Auth func(ctx context.Context, h hosts.Host) ([]ssh.Signer, error)

	// Ask asks a person about host keys that HostKeys does not know, where a yes counts for one connection, and for passwords
	// and what else a server wants to know. Nil asks nothing: unknown keys are errors, and only keys log in.
	Ask Ask

	Network
}

// Network holds what a Dialer needs to know about the network, however it decides the rest.
type Network struct {
	// Lookup finds jump hosts that Host.Via names. Nil, and a name that it does not know, means a host of that name, or
	// user@host:port.
	Lookup func(name string) (hosts.Host, bool)

	// Outside says how a host is logged in to that is in no inventory (its Source is zero): one that Lookup does not know, and
	// those that ssh_config's ProxyJump names, too. See [hosts.Inventory.Outside]. Nil means as it says itself.
	Outside func(h hosts.Host) hosts.Host

	// DialContext opens network connections; nil means a [net.Dialer].
	DialContext func(ctx context.Context, network, addr string) (net.Conn, error)

	// Connected sees each network connection that was opened, before anything is sent on it. It must not block, and may be
	// called concurrently.
	Connected func(net.Conn)

	// ConnectTimeout bounds connecting, key exchange and login together, where neither the host nor ssh_config says
	// anything. 0 means DefaultConnectTimeout; negative means no limit. With ssh_config's ConnectionAttempts each attempt has as much.
	ConnectTimeout time.Duration

	// KeepAlive is the time between probes of a connection, where ssh_config says nothing. 0 means DefaultKeepAlive;
	// negative means none.
	KeepAlive time.Duration
	// KeepAliveMax is how many probes may be missed before a connection is given up. 0 means DefaultKeepAliveMax.
	KeepAliveMax int

	// MaxTries is how many keys are offered to one host. 0 means DefaultMaxTries; negative means any number. A server
	// hangs up after its own number, and counts the failures against the address they came from.
	MaxTries int
}

// Dialer connects to hosts. It is safe for concurrent use, keeps no connection that nobody uses, and needs no closing.
type Dialer struct {
	net     Network
	resolve func(h hosts.Host) (*target, error)

	startups startups
	turns    turns // of questions about host keys

	mu    sync.Mutex
	jumps map[string]*jump // live or being dialed, by route
}

// New checks cfg and returns a Dialer. It connects to nothing.
func New(cfg Config) (*Dialer, error) {
	if cfg.HostKeys == nil {
		return nil, errors.New("sshconn: Config.HostKeys is required: give the keys of the hosts, see knownhosts.Static")
	}
	if cfg.Auth == nil {
		return nil, errors.New("sshconn: Config.Auth is required: it gives the keys to log in with")
	}
	return newDialer(cfg.Network, cfg.resolve)
}

// Static returns a Dialer that logs in with keys, trusts hostKeys, and reads nothing from disk and no environment.
func Static(keys []ssh.Signer, hostKeys HostKeys) (*Dialer, error) {
	if len(keys) == 0 {
		return nil, errors.New("sshconn: Static needs a key to log in with")
	}
	keys = slices.Clone(keys)
	return New(Config{
		HostKeys: hostKeys,
		Auth:     func(context.Context, hosts.Host) ([]ssh.Signer, error) { return keys, nil },
	})
}

func newDialer(n Network, resolve func(hosts.Host) (*target, error)) (*Dialer, error) {
	if n.ConnectTimeout == 0 {
		n.ConnectTimeout = DefaultConnectTimeout
	}
	if n.KeepAlive == 0 {
		n.KeepAlive = DefaultKeepAlive
	}
	if n.KeepAliveMax <= 0 {
		n.KeepAliveMax = DefaultKeepAliveMax
	}
	if n.MaxTries == 0 {
		n.MaxTries = DefaultMaxTries
	}
	d := &Dialer{net: n, jumps: map[string]*jump{}}
	resolve = n.admit(resolve)
	d.resolve = func(h hosts.Host) (*target, error) {
		t, err := resolve(h)
		if err == nil {
			t.turns = &d.turns
		}
		return t, err
	}
	return d, nil
}

// admit lets nobody resolve what must not be logged in to.
func (n Network) admit(resolve func(hosts.Host) (*target, error)) func(hosts.Host) (*target, error) {
	return func(h hosts.Host) (*target, error) {
		if n.Outside != nil && h.Source == (hosts.Pos{}) {
			h = n.Outside(h)
		}
		if h.NoLogin != "" {
			return nil, &session.NoLoginError{Reason: h.NoLogin}
		}
		return resolve(h)
	}
}

// resolve takes everything from the host itself.
func (cfg Config) resolve(h hosts.Host) (*target, error) {
	t := &target{name: h.Name, host: h.Addr, port: h.Port, user: h.User, timeout: h.ConnectTimeout, hostKeys: cfg.HostKeys, ask: cfg.Ask, methods: allowed.AllMethods()}
	t.login = strings.Join(append([]string{strconv.FormatBool(h.IdentityOnly)}, h.Identity...), "\x00")
	if t.host == "" {
		t.host = h.Name
	}
	if t.port == 0 {
		t.port = 22
	}
	if t.user == "" {
		return nil, errors.New("no user is given to log in as")
	}
	for _, name := range h.Via {
		t.via = append(t.via, cfg.hop(name))
	}
	t.keys = func(clk *clock.Clock, _ *keyring.Binding) (*keyring.Ring, error) {
		signers, err := cfg.Auth(clk, h)
		if err != nil {
			return nil, err
		}
		ring := &keyring.Ring{}
		for _, s := range signers {
			ring.Add(keyring.Given(s))
		}
		return ring, nil
	}
	return t, nil
}

// hop finds a jump host by the name that Host.Via gives it.
func (n Network) hop(name string) hosts.Host {
	if n.Lookup != nil {
		if h, ok := n.Lookup(name); ok {
			return h
		}
	}
	if h, ok, err := hosts.ParseAdHoc(name); ok && err == nil {
		return h
	}
	return hosts.Host{Name: name}
}

var _ session.Transport = (*Conn)(nil)

// Algorithms returns the names that "ssh -Q what" asks for, as far as Fairlead has them: those that ssh_config may name, also where
// they are not used unasked. ok says whether what is known; "help" lists what is.
func Algorithms(what string) (names []string, ok bool) { return allowed.Query(what) }

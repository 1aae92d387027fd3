// Package dialer connects to the hosts of a whole inventory, each by its transport: over SSH as ssh(1) would (directly or
// through the jump hosts that via names), with a terminal of this machine (local), through a command that yields a shell
// (docker, kubectl), or to the demo server that is built in.
//
// Begin with [Of]. A [Dialer] is what [session.PoolConfig] takes as Dial:
//
//	inv, warnings, err := inventory.Load("inventory.yaml", inventory.Options{})
//	…
//	d, err := dialer.Of(inv)
//	…
//	defer d.Close()
//	pool, err := session.NewPool(session.PoolConfig{Dial: d.Dial, …})
//
// Programs that only use SSH link less with session/sshconn alone.
//
// Errors are those of session/sshconn and session/localpty; a transport that is not known is an *[UnknownError]. The package is
// stable; Config may gain fields. There is no global state.
package dialer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/localpty"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// Config says how a Dialer finds hosts and logs in to them. The zero Config knows no inventory.
type Config struct {
	// Inventory returns the inventory in which jump hosts are looked up, as Principal logs in to its hosts (see
	// [hosts.Inventory.As]). It is called for each dial that needs it. Nil means none. Where it fails, jump hosts are looked
	// for in ssh_config alone.
	Inventory func() (*hosts.Inventory, error)

	// Principal is who logs in. For an agent ("agent/NAME") the inventory also decides how it logs in to hosts that are not
	// in it.
	Principal string

	// SSH is for hosts over SSH. Its Lookup and Outside, where they are nil, ask Inventory.
	SSH sshconn.DefaultConfig
}

// Dialer connects to hosts. It may be used concurrently. Close it when no transport of it is in use any more.
type Dialer struct {
	ssh  *sshconn.Dialer
	demo demo
}

// UnknownError says that a host has a transport that this package does not know.
type UnknownError struct {
	Host      string
	Transport hosts.Kind
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("%s has the transport %q, which is not supported: use ssh, local, command or demo", e.Host, e.Transport)
}

// Of returns a Dialer for the hosts of inv, which is required.
func Of(inv *hosts.Inventory) (*Dialer, error) {
	if inv == nil {
		return nil, errors.New("dialer: Of needs an inventory; New does without")
	}
	return New(Config{Inventory: func() (*hosts.Inventory, error) { return inv, nil }})
}

// New returns a Dialer. It opens nothing.
func New(cfg Config) (*Dialer, error) {
	if cfg.SSH.Lookup == nil {
		cfg.SSH.Lookup = cfg.Lookup
	}
	if cfg.SSH.Outside == nil {
		cfg.SSH.Outside = cfg.Outside()
	}
	ssh, err := sshconn.Default(cfg.SSH)
	if err != nil {
		return nil, err
	}
	return &Dialer{ssh: ssh}, nil
}

// Lookup finds a jump host in the inventory.
func (cfg Config) Lookup(name string) (hosts.Host, bool) {
	if cfg.Inventory == nil {
		return hosts.Host{}, false
	}
	inv, err := cfg.Inventory()
	if err != nil {
		return hosts.Host{}, false
	}
	h, err := inv.Lookup(name)
	return h, err == nil
}

// Outside says how an agent logs in to hosts outside the inventory; nil means as they are. For other principals no
// inventory is read.
func (cfg Config) Outside() func(hosts.Host) hosts.Host {
	if cfg.Inventory == nil || hosts.RoleOf(cfg.Principal) != hosts.RoleAgent || cfg.Principal == "" {
		return nil
	}
	return func(h hosts.Host) hosts.Host {
		inv, err := cfg.Inventory()
		switch {
		case err == nil:
			return inv.Outside(h)
		case !errors.Is(err, fs.ErrNotExist): // it may have credentials
			h.NoLogin = "it is not known how " + cfg.Principal + " logs in to it, because the inventory cannot be read: mend that first"
		}
		return h
	}
}

// Dial connects to h.
func (d *Dialer) Dial(ctx context.Context, h hosts.Host) (session.Transport, error) {
	switch h.Transport {
	case hosts.SSH, "":
		return d.ssh.Dial(ctx, h)
	case hosts.Local, hosts.Command:
		return localpty.Dial(ctx, h)
	case hosts.Demo:
		return d.demo.dial(ctx, h)
	}
	return nil, &UnknownError{h.Name, h.Transport}
}

// Way returns what sshconn.Dialer.Way does for hosts over SSH. How others are reached is all in the host: it is "".
func (d *Dialer) Way(h hosts.Host) (string, error) {
	if h.Transport != hosts.SSH && h.Transport != "" {
		return "", nil
	}
	return d.ssh.Way(h)
}

// Close ends the demo server, if it was started, and starts none any more. It is idempotent.
func (d *Dialer) Close() error { return d.demo.close() }

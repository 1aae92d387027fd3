// Package dialer connects to hosts by their transport: over SSH as ssh would, to the demo server built into the program,
// or with a terminal of this machine.
package dialer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/localpty"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// Config says what dialing may ask.
type Config struct {
	IO *iostreams.IOStreams // where a question for a passphrase disturbs nothing

	// Inventory, as Principal logs in to its hosts, is asked for jump hosts. Nil, and an inventory that cannot be read, mean that none has a name there.
	Inventory func() (*hosts.Inventory, error)
	// Principal is who logs in. Where that is an agent the inventory is asked about hosts outside of it, too.
	Principal string
}

// Dialer is safe for concurrent use. Close it when no transport of it is in use any more.
type Dialer struct {
	ssh  *sshconn.Dialer
	demo demo
}

// New returns a Dialer. It opens nothing.
func New(cfg Config) (*Dialer, error) {
	ssh, err := sshconn.Default(sshconn.DefaultConfig{
		Passphrase: func(ctx context.Context, keyfile string) ([]byte, error) {
			return askPassphrase(ctx, cfg.IO, keyfile)
		},
		AcceptNew: true, // where ssh_config says so
		Network:   sshconn.Network{Lookup: cfg.Lookup, Outside: cfg.Outside()},
	})
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

// Outside says how an agent logs in to hosts outside the inventory; nil is as they are. Of others than agents nobody wants
// to know, so that their commands on such hosts need no inventory.
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
	return nil, fmt.Errorf("dialer: %s has the transport %q, which this program does not know", h.Name, h.Transport)
}

// Close ends the demo server, if it was started.
func (d *Dialer) Close() error { return d.demo.close() }

// Package dialer is what the program adds to session/dialer: questions for passphrases at the terminal, and how many hosts
// can be dialed at a time.
package dialer

import (
	"context"

	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/dialer"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// Config says what dialing may ask.
type Config struct {
	IO *iostreams.IOStreams // where a question for a passphrase disturbs nothing

	Inventory func() (*hosts.Inventory, error) // see dialer.Config
	Principal string                           // likewise
}

// Dialer is that of session/dialer.
type Dialer = dialer.Dialer

// New returns a Dialer that asks for passphrases at the terminal. It opens nothing.
func New(cfg Config) (*Dialer, error) {
	return dialer.New(dialer.Config{
		Inventory: cfg.Inventory, Principal: cfg.Principal,
		SSH: sshconn.DefaultConfig{
			Passphrase: func(ctx context.Context, keyfile string) ([]byte, error) { return askPassphrase(ctx, cfg.IO, keyfile) },
			AcceptNew:  true, // where ssh_config says so
		},
	})
}

func (cfg Config) resolving() dialer.Config {
	return dialer.Config{Inventory: cfg.Inventory, Principal: cfg.Principal}
}

// Lookup finds a jump host in the inventory.
func (cfg Config) Lookup(name string) (hosts.Host, bool) { return cfg.resolving().Lookup(name) }

// Outside says how an agent logs in to hosts outside the inventory; nil means as they are.
func (cfg Config) Outside() func(hosts.Host) hosts.Host { return cfg.resolving().Outside() }

// Package dialer is what the program adds to session/dialer: what its errors tell to type next, and how many hosts can be
// dialed at a time.
package dialer

import (
	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/dialer"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// Config says what dialing may ask.
type Config struct {
	Ask sshconn.Ask // a person; nil asks nothing, and agents are never asked

	Inventory func() (*hosts.Inventory, error) // see dialer.Config
	Principal string                           // likewise

	NoPrograms bool                       // see sshconn.DefaultConfig
	Audit      func() (audit.Sink, error) // of changes of known_hosts files; nil makes none
}

// Dialer is that of session/dialer.
type Dialer = dialer.Dialer

// New returns a Dialer. It opens nothing.
func New(cfg Config) (*Dialer, error) {
	ssh := SSH(sshconn.DefaultConfig{Ask: cfg.Ask, NoPrograms: cfg.NoPrograms, HostKeysChange: RecordHostKeys(cfg.Audit, cfg.Principal)})
	if hosts.RoleOf(cfg.Principal) == hosts.RoleAgent {
		ssh.Ask = nil
	}
	return dialer.New(dialer.Config{Inventory: cfg.Inventory, Principal: cfg.Principal, SSH: ssh})
}

// SSH says how this program connects over SSH.
func SSH(cfg sshconn.DefaultConfig) sshconn.DefaultConfig {
	cfg.AcceptNew = true // where ssh_config says so
	cfg.TrustCommand = TrustCommand
	return cfg
}

func (cfg Config) resolving() dialer.Config {
	return dialer.Config{Inventory: cfg.Inventory, Principal: cfg.Principal}
}

// Lookup finds a jump host in the inventory.
func (cfg Config) Lookup(name string) (hosts.Host, bool) { return cfg.resolving().Lookup(name) }

// Outside says how an agent logs in to hosts outside the inventory; nil means as they are.
func (cfg Config) Outside() func(hosts.Host) hosts.Host { return cfg.resolving().Outside() }

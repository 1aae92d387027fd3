package cmdutil

import (
	"os"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/cmd/internal/sshopt"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
)

// Reach is what the caller may reach besides the inventory, an operator the hosts of ssh_config, and how this call does.
func (f *Factory) Reach() targets.Reach {
	return targets.Reach{Named: f.named, As: f.SSH.As, Change: func(h hosts.Host) (hosts.Host, error) {
		if err := f.SSH.Set.MayNot(f.Caller().Principal); err != nil {
			return h, err
		}
		return f.SSH.Set.Apply(h)
	}}
}

func (f *Factory) named(name string) (h hosts.Host, ok bool, err error) {
	inv, err := f.SSHInventory()
	if err != nil || inv == nil {
		return h, false, err
	}
	h, err = inv.Lookup(name)
	return h, err == nil, nil
}

// SSHInventory returns the hosts of ssh_config; nil for an agent, which gets only what an inventory lists.
func (f *Factory) SSHInventory() (*hosts.Inventory, error) {
	if f.SSHHosts == nil || hosts.RoleOf(f.Caller().Principal) != hosts.RoleOperator {
		return nil, nil
	}
	return f.SSHHosts.Inventory(f.SSH.Set.File)
}

// Environment says in one word what the caller's variables say about how hs are reached. An agent's say nothing.
func (f *Factory) Environment(hs []hosts.Host) (string, error) {
	if f.SSHHosts == nil || hosts.RoleOf(f.Caller().Principal) != hosts.RoleOperator {
		return "", nil
	}
	lookup := func(name string) (hosts.Host, bool) {
		inv, err := f.Inventory()
		if err != nil {
			return hosts.Host{}, false
		}
		h, err := inv.Lookup(name)
		return h, err == nil
	}
	environ := os.Environ()
	if dir, err := os.Getwd(); err == nil { // what PWD says need not be so
		environ = append(slices.DeleteFunc(environ, func(kv string) bool { return strings.HasPrefix(kv, "PWD=") }), "PWD="+dir)
	}
	return sshopt.EnvironmentFor(hs, lookup, f.SSHHosts.Loader, environ).Word()
}

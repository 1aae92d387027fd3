package cmdutil

import (
	"path/filepath"
	"sync"

	"github.com/fairlead-ssh/fairlead/cmd/internal/quotas"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/redact"
)

// Policy returns what decides for this machine and user: the built-in policy, changed by root's file and then by file, or
// by the one in the user's configuration if file is "". Mistakes in the files are usage errors.
func (f *Factory) Policy(file string) (*rules.Engine, error) {
	p := rules.Places{User: file, Named: file != ""}
	if file == "" {
		// Where there is no home there is no file of the user's either.
		if own, err := f.PolicyFile(); err == nil {
			p.User = own
		}
	}
	cfg, err := p.Load()
	if err != nil {
		return nil, &UsageError{Err: err}
	}
	if err := NamesIn(cfg, f.Inventory); err != nil {
		return nil, &UsageError{Err: err}
	}
	if dir, err := f.place("XDG_STATE_HOME", filepath.Join(".local", "state"), "quotas"); err == nil { // else there is no other program to count with
		cfg.Quotas = quotas.Dir(dir)
	}
	return f.Guarded(rules.New(cfg), file), nil
}

// NamesIn reports rules of the user's file that name hosts, groups, labels or tiers which are not in the inventory, nor in tiers. Where
// there is none that can be read, whoever needs it says so. Root's file is for every inventory of the machine.
func NamesIn(cfg rules.Config, inventory func() (*hosts.Inventory, error), tiers ...string) error {
	if cfg.User == nil || inventory == nil {
		return nil
	}
	inv, err := inventory()
	if err != nil {
		return nil
	}
	return cfg.User.CheckNames(inv, tiers...)
}

// PolicyFile is where the user's policy is, if there is one.
func (f *Factory) PolicyFile() (string, error) {
	return f.place("XDG_CONFIG_HOME", ".config", "policy.yaml")
}

// Learner returns what learns the secrets that the commands of a principal name, once they run.
func Learner(set *redact.Set, principal string) func(text string) {
	return func(text string) { set.Owner(principal).LearnFromCommand(text) }
}

// Redactor returns what takes secrets out of the texts of commands for the record, also those that the command itself
// names. It learns nothing: the command may never run. It remembers the last text, since a fleet runs the same one everywhere. It may be
// called concurrently.
func Redactor(set *redact.Set) func(text string) string {
	var (
		mu         sync.Mutex
		text, safe string
	)
	return func(t string) string {
		mu.Lock()
		defer mu.Unlock()
		if t != text {
			text = t
			safe, _ = set.With(t).String(t, redact.Guarded)
		}
		return safe
	}
}

package mcpserver

import (
	"errors"
	"io/fs"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

// gate is what an agent may do.
type gate struct {
	policy.Decider
	limits func() rules.Limits
	admit  func(now time.Time) error
	anyEnv func(h hosts.Host) bool
}

// newGate makes the built-in policy with the files that exist.
func newGate(principal, system, user string) (gate, error) {
	var cfg rules.Config
	var err error
	if cfg.System, err = readPolicy(system); err != nil {
		return gate{}, err
	}
	if cfg.User, err = readPolicy(user); err != nil {
		return gate{}, err
	}
	e := rules.New(cfg)
	return gate{
		Decider: e,
		limits:  func() rules.Limits { return e.Limits(principal) },
		admit:   func(now time.Time) error { return e.Admit(principal, now) },
		anyEnv: func(h hosts.Host) bool {
			return e.Allows(principal, h, policy.Unknown)
		},
	}, nil
}

// readPolicy reads a file that need not exist.
func readPolicy(name string) (*rules.File, error) {
	f, err := rules.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return f, err
}

// allowAll is the gate of --allow-all: whatever the operator may do. What only reads is still told, for the record.
func allowAll() gate {
	return gate{
		Decider: policy.AllowAll,
		limits:  func() rules.Limits { return rules.Limits{} },
		admit:   func(time.Time) error { return nil },
		anyEnv:  func(hosts.Host) bool { return true },
	}
}

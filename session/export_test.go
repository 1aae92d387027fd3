package session

import (
	"context"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/internal/seam"
)

// WithAction returns cmd with an action that is done instead of its Script.
func WithAction(cmd Command, a seam.Action[Transport]) Command {
	seam.Act(&cmd, a)
	return cmd
}

// Lend is registry.Lend.
func Lend(ctx context.Context, p *Pool, h hosts.Host, use func(Transport) error) (release func(), err error) {
	return seam.Lend(ctx, p, h, use)
}

// ConnKey says which hosts may share a connection.
var ConnKey = hostKey

// Keys is how many keys a pool remembers.
func Keys(p *Pool) int {
	p.core.mu.Lock()
	defer p.core.mu.Unlock()
	return len(p.core.keys)
}

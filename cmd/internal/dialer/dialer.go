// Package dialer connects to hosts by their transport: over SSH as ssh would, to the demo server built into the program,
// or with a terminal of this machine.
package dialer

import (
	"context"
	"errors"
	"fmt"

	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/localpty"
)

// Config says what dialing may ask.
type Config struct {
	IO *iostreams.IOStreams // its status line makes room for questions

	// Inventory is asked for jump hosts that the inventory names.
	Inventory func() (*hosts.Inventory, error)
}

// Dialer is safe for concurrent use. Close it when no transport of it is in use any more.
type Dialer struct {
	demo demo
}

// New returns a Dialer. It opens nothing.
func New(cfg Config) *Dialer {
	return &Dialer{}
}

// Dial connects to h.
func (d *Dialer) Dial(ctx context.Context, h hosts.Host) (session.Transport, error) {
	switch h.Transport {
	case hosts.Local, hosts.Command:
		return localpty.Dial(ctx, h)
	case hosts.Demo:
		return d.demo.dial(ctx, h)
	case hosts.SSH, "":
		return nil, errors.New("dialer: not wired yet")
	}
	return nil, fmt.Errorf("dialer: %s has the transport %q, which this program does not know", h.Name, h.Transport)
}

// Close ends the demo server, if it was started.
func (d *Dialer) Close() error { return d.demo.close() }

package sshconn

import (
	"context"
	"fmt"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/internal/seam"
)

func (c *Conn) withoutTerminal() error {
	return &reworded{session.ErrNoTerminal, fmt.Sprintf("sshconn: %s: the server gives no terminal to %s: PermitTTY is off, or the key has no-pty or restrict", c.t.name, c.t.user)}
}

// unframed is a program without a terminal whose end is waited for as that of one that has one.
type unframed struct{ *Pipe }

// Close is that of a stream: it returns once the channel is gone, if need be with the connection.
func (u unframed) Close() error { return u.s.Close() }

// HangUp implements seam.Piped.
func (u unframed) HangUp() error { return u.Pipe.Close() }

// Unframed implements seam.Unframed.
func (c *Conn) Unframed(ctx context.Context, line string) (seam.Piped[session.Exit], error) {
	p, err := c.Pipe(ctx, Piped{Line: line})
	if err != nil {
		return nil, err
	}
	return unframed{p}, nil
}

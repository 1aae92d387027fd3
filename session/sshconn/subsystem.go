package sshconn

import (
	"context"
	"errors"
	"fmt"
	"io"

	"golang.org/x/crypto/ssh"
)

// Subsystem starts a subsystem of the server, such as "sftp", and returns what speaks to it; closing that ends it. ctx
// bounds starting only. It takes a place like a program: errors are those of Open, and where the server does not have the
// subsystem the error wraps [errors.ErrUnsupported].
func (c *Conn) Subsystem(ctx context.Context, name string) (io.ReadWriteCloser, error) {
	s, err := start(ctx, c, func() (*stream, error) {
		return c.channel(func(s *stream) error { return s.subsystem(name) })
	}, func(s *stream) { s.ch.Close() })
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (s *stream) subsystem(name string) error {
	ok, err := s.ch.SendRequest("subsystem", true, ssh.Marshal(struct{ Name string }{name}))
	if err == nil && !ok {
		return fmt.Errorf("sshconn: %s: the server has no subsystem %s: %w", s.c.t.name, name, errors.ErrUnsupported)
	}
	if err != nil {
		return s.broken()
	}
	return nil
}

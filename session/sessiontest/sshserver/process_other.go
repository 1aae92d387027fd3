//go:build !linux && !darwin

package sshserver

import (
	"errors"

	"golang.org/x/crypto/ssh"
)

func (c *conn) spawn(*Session, ssh.Channel) (running, error) { return nil, errors.ErrUnsupported }

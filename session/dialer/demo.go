package dialer

import (
	"context"
	"fmt"
	"net"
	"os/user"
	"strconv"
	"sync"

	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/sshserver"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

// demo is the server behind the demo hosts: one for all of them, started with the first dial. It listens on loopback,
// accepts only the key that was made with it, and its own key is verified like any other.
type demo struct {
	mu     sync.Mutex // held while starting
	server *sshserver.Server
	dialer *sshconn.Dialer
	host   string
	port   uint16
	closed bool
}

// start starts the server once. A failure is not remembered: the next dial tries again.
func (d *demo) start() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closed:
		return fmt.Errorf("the Dialer is closed: %w", session.ErrClosed)
	case d.server != nil:
		return nil
	}
	s, err := sshserver.Start(sshserver.Config{MaxSessions: -1})
	if err != nil {
		return err
	}
	if err := d.know(s); err != nil {
		s.Close()
		return err
	}
	d.server = s
	return nil
}

// know makes a dialer that trusts the server's key and has the key it lets in. d.mu is held.
func (d *demo) know(s *sshserver.Server) error {
	host, port, err := net.SplitHostPort(s.Addr())
	if err != nil {
		return err
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return err
	}
	keys, err := knownhosts.Static(knownhosts.StaticKey{Host: knownhosts.Name(host, uint16(n)), Key: s.HostKey()})
	if err != nil {
		return err
	}
	d.host, d.port = host, uint16(n)
	d.dialer, err = sshconn.Static([]ssh.Signer{s.ClientKey()}, keys)
	return err
}

func (d *demo) dial(ctx context.Context, h hosts.Host) (session.Transport, error) {
	if err := d.start(); err != nil {
		return nil, fmt.Errorf("%s: the demo server does not start: %w", h.Name, err)
	}
	account := "demo"
	if u, err := user.Current(); err == nil {
		account = u.Username
	}
	return d.dialer.Dial(ctx, hosts.Host{
		Name: h.Name, Addr: d.host, Port: d.port, User: account, ConnectTimeout: h.ConnectTimeout, Source: h.Source,
	})
}

// close ends the server with all that runs in it.
func (d *demo) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	if d.server == nil {
		return nil
	}
	return d.server.Close()
}

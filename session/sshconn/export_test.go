package sshconn

import (
	"context"
	"net"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
)

// Waiting returns how many dials hold or wait for a jump host.
func Waiting(d *Dialer) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for _, j := range d.jumps {
		n += j.refs
	}
	return n
}

// Negotiated returns the algorithms of a connection.
func Negotiated(c *Conn) ssh.NegotiatedAlgorithms {
	return c.ssh.(ssh.AlgorithmsConnMetadata).Algorithms()
}

// Settings returns what the SSH library is given for h.
func Settings(d *Dialer, h hosts.Host) (*ssh.ClientConfig, error) {
	t, err := d.resolve(h)
	if err != nil {
		return nil, err
	}
	return (&login{t: t, trace: session.TraceDial(context.Background())}).settings(), nil
}

// Rotated is closed once the keys that the host says are its own have been compared with known_hosts.
func (c *Conn) Rotated() <-chan struct{} { return c.t.rotation.done }

// Expire makes the certificate that logged in one that has expired.
func (c *Conn) Expire() {
	cert := *c.cert
	cert.ValidBefore = 1
	c.cert = &cert
}

// SetExchangePatience is for how long nothing may arrive during an exchange of keys that our side begins, until the test's end.
func SetExchangePatience(t interface{ Cleanup(func()) }, d time.Duration) {
	was := exchangePatience
	exchangePatience = d
	t.Cleanup(func() { exchangePatience = was })
}

// CheckAddress compares a key of h, whose address is remote, with what is recorded for that, as CheckHostIP wants.
func CheckAddress(d *Dialer, h hosts.Host, remote net.Addr, key ssh.PublicKey) error {
	t, err := d.resolve(h)
	if err != nil {
		return err
	}
	return t.checkAddress(remote, key)
}

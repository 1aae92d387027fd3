package sshconn

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts/knownhosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/keyring"
	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/stamp"
)

// versioned may be implemented by HostKeys that change while a connection lives. Where Version returns the same as before, what
// Check says about a key is the same, too; nil is never the same.
type versioned interface{ Version() any }

// trust is what the last look at the key of a connection's host has found.
type trust struct {
	mu      sync.Mutex
	version any
	revoked stamp.Stamp // of the file of revoked keys
	err     error
}

// racy is how soon after a change a file may change again without its time or size showing it.
const racy = 2 * time.Second

// Validate is the method that [session.Transport] tells of: the error says that the key of the host, or of a jump host, is not trusted any more, or
// that the certificate that logged in has expired. Files of host keys are read again once they change, a KnownHostsCommand is
// asked once a minute. The connection of another ssh (ControlPath) is that one's to judge.
//
// A key that the agent does not hold any more, because its lifetime has ended or the agent has, still counts: as with OpenSSH, an
// agent decides what it signs, not how long a login lasts.
func (c *Conn) Validate() error {
	if c.shared {
		return nil
	}
	if c.via != nil {
		if err := c.via.conn.Validate(); err != nil {
			return atHop(err, c.t.name)
		}
	}
	if c.cert != nil {
		if why := keyring.Unfit(c.cert, time.Now()); why != "" {
			return &Error{Host: c.t.name, Addr: c.t.addr(), Step: StepLogin, Err: fmt.Errorf("%w: %s", session.ErrAuth, why)}
		}
	}
	return c.trusted()
}

// trusted is CheckHostKey that remembers its answer as long as nothing changes.
func (c *Conn) trusted() error {
	keys, ok := c.t.hostKeys.(versioned)
	if !ok {
		return nil // they do not change
	}
	t := &c.trust
	t.mu.Lock()
	defer t.mu.Unlock()
	version, revoked := keys.Version(), stamp.Stamp{}
	if c.t.revoked.File != "" {
		revoked = stamp.Of(c.t.revoked.File)
	}
	_, certificate := c.hostKey.(*ssh.Certificate) // which expires
	if version == nil || version != t.version || revoked != t.revoked || time.Since(revoked.Changed) < racy || certificate {
		t.err = c.CheckHostKey()
		t.version, t.revoked = version, revoked
	}
	return t.err
}

// CheckHostKey asks again whether the key that the host has shown is trusted. For the connection of another ssh (ControlPath) that
// ssh decides. The error is an *[Error] as Dial would give it; the connection stays as it is.
func (c *Conn) CheckHostKey() error {
	if c.shared {
		return nil
	}
	err := c.t.checkHostKey(c.hostKey)
	if _, unknown := errors.AsType[*knownhosts.UnknownError](err); unknown && c.vouched {
		err = nil
	}
	if err == nil {
		err = c.t.checkAddress(c.ssh.RemoteAddr(), c.hostKey)
	}
	if err != nil {
		return &Error{Host: c.t.name, Addr: c.t.addr(), Step: StepHostKey, Err: &HostKeyError{Err: err}}
	}
	return nil
}

var _ interface{ Validate() error } = (*Conn)(nil)

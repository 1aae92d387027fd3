package sshconn

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/clock"
	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/keyring"
)

// KeyPlace says where the key of a host is looked for.
type KeyPlace struct {
	Name  string   // as it is recorded: "host", "[host]:port" or an alias
	Files []string // known_hosts files, in order; the first is the one that new keys are recorded in
	Hash  bool     // whether the name is hidden there
}

// KeyPlace returns where the key of h is looked for, as ssh_config says. It connects to nothing. Only a Dialer that [Default] made
// knows it.
func (d *Dialer) KeyPlace(h hosts.Host) (KeyPlace, error) {
	t, err := d.resolve(h)
	if err != nil {
		return KeyPlace{}, &Error{Host: h.Name, Err: err}
	}
	if t.files == nil {
		return KeyPlace{}, &Error{Host: h.Name, Err: errors.New("no known_hosts file is configured for it")}
	}
	return KeyPlace{Name: t.keyName(), Files: t.files, Hash: t.first.hash}, nil
}

// ScanHostKey connects to h, through its jump hosts, only to see its key, and does not log in. err is nil, or what [Dialer.Dial]
// would say about the key, where the host has shown one; else key is nil. The key may be a certificate.
func (d *Dialer) ScanHostKey(ctx context.Context, h hosts.Host) (key ssh.PublicKey, err error) {
	if ctx.Err() != nil {
		return nil, &Error{Host: h.Name, Err: ctxerr.Of(ctx)}
	}
	route, err := d.route(h)
	if err != nil {
		return nil, &Error{Host: h.Name, Err: err}
	}
	last := route[len(route)-1]
	last.scan = true
	clk := clock.New(ctx, d.timeout(last))
	defer clk.Stop()
	c, err := d.dialRoute(clk, route, "")
	if err == nil {
		c.Close()
		return nil, &Error{Host: h.Name, Err: errors.New("it has shown no key")}
	}
	if s, ok := errors.AsType[*scanned](err); ok {
		return s.key, s.verdict
	}
	return nil, err
}

// scanned ends a connection that was made for the key of a host.
type scanned struct {
	key     ssh.PublicKey
	verdict error // nil, or *knownhosts.UnknownError and so on
}

func (s *scanned) Error() string { return fmt.Sprintf("its key is %s", keyring.Fingerprint(s.key)) }

package sshconn

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/clock"
)

// maxHops bounds how many jump hosts one route may have, so that hosts that jump through each other end.
const maxHops = 8

// Dial connects to h and logs in, through h.Via where it is set. The Transport is a *[Conn].
//
// ctx bounds connecting only. Errors are *[Error].
func (d *Dialer) Dial(ctx context.Context, h hosts.Host) (session.Transport, error) {
	c, err := d.DialConn(ctx, h)
	if err != nil {
		return nil, err // not c: a nil *Conn would make an interface that is not nil
	}
	return c, nil
}

// DialConn is Dial for callers that want more than a Transport.
func (d *Dialer) DialConn(ctx context.Context, h hosts.Host) (*Conn, error) {
	if ctx.Err() != nil {
		return nil, &Error{Host: h.Name, Err: ctxerr.Of(ctx)}
	}
	switch h.Transport {
	case "", hosts.SSH, hosts.Demo:
	default:
		return nil, &Error{Host: h.Name, Err: fmt.Errorf("it is not reached over SSH: its transport is %q", h.Transport)}
	}
	route, err := d.route(h)
	if err != nil {
		return nil, &Error{Host: h.Name, Err: err}
	}
	clk := clock.New(ctx, d.timeout(route[len(route)-1]))
	defer clk.Stop()
	way := newWay(h, route)
	c, err := d.dialRoute(clk, route, "")
	if err != nil {
		return nil, err
	}
	c.way = way
	return c, nil
}

// Check says why h would be refused before anything is connected: because of what ssh_config or its credentials say. It looks at
// no jump host.
func (d *Dialer) Check(h hosts.Host) error {
	_, err := d.resolve(h)
	return err
}

// dialRoute connects to the last target of route through the others.
func (d *Dialer) dialRoute(clk *clock.Clock, route []*target, before string) (*Conn, error) {
	last := route[len(route)-1]
	if c := d.shared(clk, last); c != nil {
		return c, nil
	}
	if len(route) == 1 {
		return d.connect(clk, last, nil)
	}
	j, err := d.through(clk, route[:len(route)-1])
	if err != nil {
		return nil, atHop(err, last.name)
	}
	c, err := d.connect(clk, last, j)
	if err != nil {
		d.release(j)
		return nil, err
	}
	return c, nil
}

// route resolves h and every hop before it, first hop first and h last. Each hop is resolved on its own; only the first
// one's own jump hosts count, as with OpenSSH.
func (d *Dialer) route(h hosts.Host) ([]*target, error) {
	t, err := d.resolve(h)
	if err != nil {
		return nil, err
	}
	route := []*target{t}
	for via := t.via; len(via) > 0; {
		hops := make([]*target, len(via))
		for i, hop := range via {
			if hops[i], err = d.resolve(hop); err != nil {
				return nil, fmt.Errorf("through %s: %w", hop.Name, err)
			}
			hops[i].hop = hops[i].name
		}
		if route = append(hops, route...); len(route) > maxHops+1 {
			return nil, fmt.Errorf("more than %d jump hosts; %s may lead through itself", maxHops, h.Name)
		}
		via = hops[0].via
	}
	return route, nil
}

// Way returns a digest of how Dial would log in to h now: the address, the account and the keys of each hop, as the inventory
// and ssh_config say. Nothing is dialed. Two ways that differ lead elsewhere, or in as somebody else.
func (d *Dialer) Way(h hosts.Host) (string, error) {
	route, err := d.route(h)
	if err != nil {
		return "", err
	}
	key, _ := keyOf(route)
	return fmt.Sprintf("%x", sha256.Sum256([]byte(key))), nil
}

// atHop says for which host a jump host was wanted.
func atHop(err error, host string) error {
	if e, ok := errors.AsType[*Error](err); ok {
		at := *e
		if at.Hop == "" {
			at.Hop = at.Host
		}
		at.Host = host
		return &at
	}
	return &Error{Host: host, Err: err}
}

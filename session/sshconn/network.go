package sshconn

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/clock"
)

// network is what ssh_config says about how packets reach a host.
type network struct {
	family    string // "inet" or "inet6"; "" is any
	address   string // to connect from; "" is any
	inface    string // whose address to connect from; "" is any
	attempts  int    // 0 is one
	direction string // where ssh_config says address or inface
	limit     string // where it says family
}

// retryAfter is the time between attempts, as in OpenSSH.
const retryAfter = time.Second

// open connects to t, as often as ssh_config says. As with ssh, each attempt has the time of one: the clock runs for the last attempt,
// and for what follows.
func (d *Dialer) open(clk *clock.Clock, t *target) (net.Conn, error) {
	for range t.net.attempts - 1 {
		if conn, err := d.attempt(clk, t); err == nil || clk.Err() != nil {
			return conn, err
		}
	}
	return d.openOnce(clk, t)
}

// attempt is one that others follow, and the time before the next. The clock stands still.
func (d *Dialer) attempt(clk *clock.Clock, t *target) (net.Conn, error) {
	clk.Pause()
	defer clk.Resume()
	ctx, cancel := context.Context(clk), func() {}
	if clk.Limit >= 0 {
		ctx, cancel = context.WithTimeout(clk, clk.Limit)
	}
	defer cancel()
	conn, err := d.openOnce(ctx, t)
	if err == nil {
		return conn, nil
	}
	again := time.NewTimer(retryAfter)
	defer again.Stop()
	select {
	case <-again.C:
	case <-clk.Done():
	}
	return nil, err
}

func (d *Dialer) openOnce(ctx context.Context, t *target) (net.Conn, error) {
	c, err := d.openFrom(ctx, t)
	if bad, ok := errors.AsType[*net.AddrError](err); ok && t.net.limit != "" && t.net.address == "" && t.net.inface == "" {
		err = fmt.Errorf("%s: %s has no such address (%w)", t.net.limit, t.host, bad)
	}
	if err == nil && d.net.Connected != nil {
		d.net.Connected(c)
	}
	return c, err
}

// openFrom opens a connection from the address that ssh_config gives, if it gives one.
func (d *Dialer) openFrom(ctx context.Context, t *target) (net.Conn, error) {
	from, err := t.net.from(ctx)
	if err != nil {
		return nil, err
	}
	if from == nil {
		kind := map[string]string{"": "tcp", "inet": "tcp4", "inet6": "tcp6"}[t.net.family]
		if d.net.DialContext != nil {
			return d.net.DialContext(ctx, kind, t.addr())
		}
		return new(net.Dialer).DialContext(ctx, kind, t.addr())
	}
	if d.net.DialContext != nil {
		return nil, fmt.Errorf("%s cannot be obeyed with a DialContext of your own", t.net.direction)
	}
	var first error
	for _, ip := range from {
		kind := "tcp6"
		if ip.Is4() {
			kind = "tcp4"
		}
		conn, err := (&net.Dialer{LocalAddr: net.TCPAddrFromAddrPort(netip.AddrPortFrom(ip, 0))}).DialContext(ctx, kind, t.addr())
		if err == nil {
			return conn, nil
		}
		if first == nil {
			if errors.Is(err, syscall.EADDRNOTAVAIL) {
				err = fmt.Errorf("%s: %w", t.net.direction, err)
			}
			first = err
		}
	}
	return nil, first
}

// from returns the addresses to connect from, in order; nil is any.
func (n network) from(ctx context.Context) ([]netip.Addr, error) {
	var all []netip.Addr
	switch {
	case n.address != "":
		var err error
		if all, err = net.DefaultResolver.LookupNetIP(ctx, "ip", n.address); err != nil {
			return nil, fmt.Errorf("%s: %w", n.direction, err)
		}
	case n.inface != "":
		i, err := net.InterfaceByName(n.inface)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", n.direction, err)
		}
		addrs, err := i.Addrs()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", n.direction, err)
		}
		for _, a := range addrs {
			if p, err := netip.ParsePrefix(a.String()); err == nil {
				all = append(all, p.Addr())
			}
		}
	default:
		return nil, nil
	}
	seen := map[bool]bool{}
	out := []netip.Addr{}
	for _, ip := range all { // the first one of each family
		ip = ip.Unmap()
		if n.family == "inet" && !ip.Is4() || n.family == "inet6" && ip.Is4() || seen[ip.Is4()] {
			continue
		}
		seen[ip.Is4()] = true
		if ip.IsLinkLocalUnicast() && n.inface != "" {
			ip = ip.WithZone(n.inface)
		}
		out = append(out, ip)
	}
	if len(out) == 0 {
		return nil, errors.New(n.direction + ": it has no address to connect from")
	}
	return out, nil
}

// String tells one network from another.
func (n network) String() string {
	return strings.Join([]string{n.family, n.address, n.inface}, "\x01")
}

package sshconn

import (
	"context"
	"net"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/clock"
)

// masterTime bounds how long an ssh that may share its connection is waited for; then Fairlead connects itself.
const masterTime = 3 * time.Second

// masterOf is the socket of an ssh whose connection serves for h; "" is none. A host of which the inventory says where it is, how
// it is reached or with which keys, is connected to as it says: how the other ssh has logged in is not known.
func masterOf(h hosts.Host, s sshconfig.Settings) string {
	elsewhere := h.Addr != "" && h.Addr != s.HostName.V
	if elsewhere || h.IdentityOnly || len(h.Identity) > 0 || len(h.Via) > 0 || s.ForwardAgent.V {
		return ""
	}
	return s.ControlPath.V
}

// shared returns a connection over that of another ssh to t (ControlPath), or nil where there is none. It was that ssh's to check
// the host's key, and it probes the connection.
func (d *Dialer) shared(clk *clock.Clock, t *target) *Conn {
	if t.master == "" || t.scan || !ownSocket(t.master) {
		return nil
	}
	ctx, cancel := context.WithTimeout(clk, masterTime)
	defer cancel()
	raw, err := new(net.Dialer).DialContext(ctx, "unix", t.master)
	if err != nil {
		return nil
	}
	stop := context.AfterFunc(ctx, func() { raw.Close() })
	w := &wire{Conn: raw}
	sc, channels, requests, err := ssh.NewControlClientConn(w)
	w.hush()
	if !stop() || err != nil {
		raw.Close()
		return nil
	}
	c := newConn(d, t, nil, w, sc)
	c.shared = true
	c.run(channels, requests)
	return c
}

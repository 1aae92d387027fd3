package sshconn

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"

	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
)

// tunnel connects to a host from the far end of c. What it returns knows deadlines, and closing it unblocks everybody at
// once, whatever the jump host does: two goroutines of c stand between it and the channel.
func (c *Conn) tunnel(ctx context.Context, host string, port uint16) (net.Conn, error) {
	ch, err := start(ctx, c, func() (ssh.Channel, error) {
		ch, requests, err := c.openChannel("direct-tcpip", ssh.Marshal(struct {
			Host   string
			Port   uint32
			Origin string
			From   uint32
		}{host, uint32(port), "127.0.0.1", 0}))
		if err != nil {
			return nil, c.unreachable(err, host)
		}
		if !c.spawn(func() { ssh.DiscardRequests(requests) }) {
			return nil, c.reason()
		}
		return ch, nil
	}, func(ch ssh.Channel) { ch.Close() })
	if err != nil {
		return nil, err
	}
	near, far := net.Pipe()
	t := &tunnelled{Conn: near, c: c, ch: ch, to: c.ssh.RemoteAddr()}
	in := func() {
		_, _ = io.CopyBuffer(writer{far}, reader{ch}, make([]byte, tunnelBuffer))
		far.Close()
	}
	out := func() {
		_, _ = io.CopyBuffer(writer{ch}, reader{far}, make([]byte, tunnelBuffer))
		_ = ch.CloseWrite()
	}
	if !c.spawn(in) || !c.spawn(out) {
		near.Close()
		far.Close()
		return nil, c.reason()
	}
	return t, nil
}

// tunnelBuffer is small because an idle connection keeps two.
const tunnelBuffer = 4 << 10

// tunnelled is a network connection through a jump host.
type tunnelled struct {
	net.Conn
	c     *Conn
	ch    ssh.Channel
	to    net.Addr
	close sync.Once
}

func (t *tunnelled) RemoteAddr() net.Addr { return t.to }
func (t *tunnelled) LocalAddr() net.Addr  { return t.c.ssh.LocalAddr() }

// Close returns at once. The goroutines behind it end when the jump host confirms, or with the connection to it.
func (t *tunnelled) Close() error {
	err := t.Conn.Close()
	t.close.Do(func() {
		t.c.spawn(func() { _ = t.ch.Close() })
	})
	return err
}

// unreachable explains why a jump host does not connect to the next one, or to a socket.
func (c *Conn) unreachable(err error, to string) error {
	if e, ok := err.(*ssh.OpenChannelError); ok {
		switch {
		case e.Reason == ssh.UnknownChannelType && hosts.IsSocket(to):
			return fmt.Errorf("the server of %s cannot connect to sockets", c.t.name)
		case hosts.IsSocket(to): // sshd says no more of one that is not there, and of one that it does not allow
			return fmt.Errorf("%s cannot connect to the socket: it says %q, so that nothing may listen on it, or AllowStreamLocalForwarding not allow it", c.t.name, printable.Heard(e.Message, maxHeard))
		case e.Reason == ssh.Prohibited:
			return fmt.Errorf("%s does not forward connections (AllowTcpForwarding, PermitOpen)", c.t.name)
		}
		return fmt.Errorf("%s cannot connect to it: it says %q", c.t.name, printable.Heard(e.Message, maxHeard))
	}
	if gone := c.reason(); gone != nil {
		return gone
	}
	return fmt.Errorf("%s went away%s", c.t.name, plain(err))
}

// Without these, io.Copy would use other methods of what it copies.
type (
	reader struct{ io.Reader }
	writer struct{ io.Writer }
)

package sshconn

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/printable"
	"github.com/fairlead-ssh/fairlead/session"
)

// ErrRefused is wrapped where a server does not listen for others.
var ErrRefused = errors.New("the server refuses to listen")

// Listener is a port or socket of the host on which its server listens for this side, as with ssh -R. All methods may be used
// concurrently.
type Listener struct {
	c    *Conn
	at   listenKey
	come chan *Pipe
	once sync.Once
	done chan struct{} // closed by Close
}

// listenKey is how a server calls what it was asked to listen on.
type listenKey struct {
	host string // or the path of a socket
	port uint32 // 0 for a socket
}

// ask is the global request that asks for it, or takes that back (PROTOCOL of OpenSSH, 2.4; RFC 4254, 7.1).
func (k listenKey) ask(cancel string) (name string, payload []byte) {
	if hosts.IsSocket(k.host) {
		return cancel + "streamlocal-forward@openssh.com", ssh.Marshal(struct{ Path string }{k.host})
	}
	return cancel + "tcpip-forward", ssh.Marshal(struct {
		Host string
		Port uint32
	}{k.host, k.port})
}

// cancels is what a request's name begins with that takes another back.
const cancels = "cancel-"

// listeners are those of a connection.
type listeners struct {
	mu sync.Mutex // held while the server is asked, so that no connection comes before what it is for
	m  map[listenKey]*Listener
}

// of returns the one that a connection is for. Servers may write an address in another way than they were asked with.
func (l *listeners) of(at listenKey) *Listener {
	l.mu.Lock()
	defer l.mu.Unlock()
	if found := l.m[at]; found != nil {
		return found
	}
	if hosts.IsSocket(at.host) {
		return nil
	}
	var found *Listener
	for key, each := range l.m {
		if key.port != at.port || hosts.IsSocket(key.host) {
			continue
		}
		if found != nil {
			return nil
		}
		found = each
	}
	return found
}

// Limited says where ssh_config limits with PermitRemoteOpen how far clients of a port without a destination get; "" is nowhere. Nothing
// here obeys it: the port is not to be opened.
func (c *Conn) Limited() string { return c.t.limited }

// Listen has the server listen on a port of the host; 0 is any that is free. host is the address there: "localhost" for the
// host alone, and "" for all of its addresses, which a server allows only with GatewayPorts; or it is the absolute path of a socket, and
// port 0. sshd removes no socket that is there already, unless its StreamLocalBindUnlink says so. ctx bounds asking only. Where the
// server refuses, the error wraps [ErrRefused]. Nothing judges or records what is done: that is for the caller.
func (c *Conn) Listen(ctx context.Context, host string, port uint16) (*Listener, error) {
	return start(ctx, c, func() (*Listener, error) { return c.listen(host, port) }, func(l *Listener) { l.Close() })
}

func (c *Conn) listen(host string, port uint16) (*Listener, error) {
	c.heard.mu.Lock()
	defer c.heard.mu.Unlock()
	at := listenKey{host, uint32(port)}
	name, payload := at.ask("")
	ok, reply, err := c.ssh.SendRequest(name, true, payload)
	switch {
	case err != nil:
		if gone := c.reason(); gone != nil {
			return nil, gone
		}
		return nil, fmt.Errorf("sshconn: %s: the connection broke%s: %w", c.t.name, plain(err), session.ErrClosed)
	case !ok && hosts.IsSocket(host):
		return nil, fmt.Errorf("sshconn: %s: %w on %s: a file of that name may be there, its directory not, or AllowStreamLocalForwarding may not allow it", c.t.name, ErrRefused, printable.Text(host))
	case !ok:
		why := "AllowTcpForwarding or PermitListen may not allow it"
		if port != 0 {
			why = "the port may be in use there, or " + why
		}
		return nil, fmt.Errorf("sshconn: %s: %w on port %d: %s", c.t.name, ErrRefused, port, why)
	}
	if port == 0 && !hosts.IsSocket(host) {
		var m struct{ Port uint32 }
		if err := ssh.Unmarshal(reply, &m); err != nil || m.Port == 0 || m.Port > 65535 {
			return nil, fmt.Errorf("sshconn: %s: the server does not say on which port it listens", c.t.name)
		}
		at.port = m.Port
	}
	l := &Listener{c: c, at: at, come: make(chan *Pipe), done: make(chan struct{})}
	if c.heard.m == nil {
		c.heard.m = map[listenKey]*Listener{}
	}
	c.heard.m[at] = l
	return l, nil
}

// Port is the port that the server listens on; 0 for a socket.
func (l *Listener) Port() uint16 { return uint16(l.at.port) }

// Addr is the address that the server was asked for, with the port that it listens on, or the path of the socket.
func (l *Listener) Addr() string {
	if hosts.IsSocket(l.at.host) {
		return l.at.host
	}
	return net.JoinHostPort(l.at.host, strconv.Itoa(int(l.at.port)))
}

// Accept returns the next connection to it, which the caller closes; its Stderr needs no reading. After Close, or once the
// connection to the host is gone, it fails with an error that wraps [session.ErrClosed].
func (l *Listener) Accept() (*Pipe, error) {
	select {
	case p := <-l.come:
		return p, nil
	case <-l.done:
		return nil, fmt.Errorf("sshconn: %s: no longer listening: %w", l.c.t.name, session.ErrClosed)
	case <-l.c.done:
		if err := l.c.reason(); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("sshconn: %s: the connection is closed: %w", l.c.t.name, session.ErrClosed)
	}
}

// Close has the server listen no more, and waits some seconds for its answer. Connections that were accepted go on. It is
// idempotent.
func (l *Listener) Close() error {
	l.once.Do(func() {
		close(l.done)
		l.c.heard.mu.Lock()
		if l.c.heard.m[l.at] == l {
			delete(l.c.heard.m, l.at)
		}
		l.c.heard.mu.Unlock()
		answered := make(chan struct{})
		if !l.c.spawn(func() {
			defer close(answered)
			name, payload := l.at.ask(cancels)
			_, _, _ = l.c.ssh.SendRequest(name, true, payload)
		}) {
			return
		}
		patience := time.NewTimer(closePatience)
		defer patience.Stop()
		select {
		case <-answered:
		case <-l.c.done:
		case <-patience.C:
		}
	})
	return nil
}

// Types of the channels that a server opens for what connects to a port or socket that it listens on.
const (
	fromPort   = "forwarded-tcpip"
	fromSocket = "forwarded-streamlocal@openssh.com"
)

// connectedTo reads what a channel is for.
func connectedTo(nc ssh.NewChannel) (listenKey, error) {
	if nc.ChannelType() == fromSocket {
		var m struct {
			Path     string
			Reserved string
		}
		err := ssh.Unmarshal(nc.ExtraData(), &m)
		return listenKey{m.Path, 0}, err
	}
	var m struct {
		Host   string
		Port   uint32
		Origin string
		From   uint32
	}
	err := ssh.Unmarshal(nc.ExtraData(), &m)
	return listenKey{m.Host, m.Port}, err
}

// connected takes a connection to what the server listens on for this side. It returns at once.
func (c *Conn) connected(nc ssh.NewChannel) {
	if !c.spawn(func() {
		at, err := connectedTo(nc)
		if err != nil {
			_ = nc.Reject(ssh.ConnectionFailed, "it does not say what it is for")
			return
		}
		l := c.heard.of(at)
		if l == nil {
			_ = nc.Reject(ssh.Prohibited, "not asked for")
			return
		}
		ch, requests, err := nc.Accept()
		if err != nil {
			return
		}
		ch, requests = c.politely(ch, requests)
		s := &stream{c: c, ch: ch, exited: make(chan struct{}), gone: make(chan struct{})}
		if !c.spawn(func() { s.serve(requests) }) || !c.spawn(s.drain) {
			_ = ch.Close()
			return
		}
		p := &Pipe{s: s, dial: true, left: make(chan struct{})}
		select {
		case l.come <- p:
		case <-l.done:
			p.Close()
		case <-c.done:
			p.Close()
		}
	}) {
		_ = nc.Reject(ssh.ResourceShortage, "the connection is closing")
	}
}

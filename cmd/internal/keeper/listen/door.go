package listen

import (
	"net"
	"os"
	"sync"
)

const maxConns = 4096

// door lets this account in, and nobody else: the directory's mode does so too, but root passes that.
type door struct {
	*Socket
	places chan struct{}
}

func Door(l *Socket) net.Listener { return &door{l, make(chan struct{}, maxConns)} }

// Accept waits for a place, and for a caller.
func (d *door) Accept() (net.Conn, error) {
	for {
		d.places <- struct{}{}
		c, err := d.AcceptUnix()
		if err != nil {
			<-d.places
			return nil, err
		}
		if uid, pid, err := PeerOf(c); err == nil && uid == os.Geteuid() {
			return &guest{Conn: c, leave: sync.OnceFunc(func() { <-d.places }), pid: pid}, nil
		}
		c.Close()
		<-d.places
	}
}

// guest is a connection that gives its place back.
type guest struct {
	net.Conn
	leave func()
	pid   int // who it is, on the socket
}

func (g *guest) Close() error {
	g.leave()
	return g.Conn.Close()
}

// gate bounds the connections on a port.
type gate struct {
	net.Listener
	places chan struct{}
	shut   chan struct{}
	once   sync.Once
}

func Bounded(l net.Listener) net.Listener {
	return &gate{Listener: l, places: make(chan struct{}, maxConns/4), shut: make(chan struct{})}
}

func (g *gate) Accept() (net.Conn, error) {
	select {
	case g.places <- struct{}{}:
	case <-g.shut:
		return nil, net.ErrClosed
	}
	c, err := g.Listener.Accept()
	if err != nil {
		<-g.places
		return nil, err
	}
	return &guest{Conn: c, leave: sync.OnceFunc(func() { <-g.places })}, nil
}

func (g *gate) Close() error {
	g.once.Do(func() { close(g.shut) })
	return g.Listener.Close()
}

// PIDAt is the process at the other end of a connection that a door has let in; 0 where that is unknown.
func PIDAt(c net.Conn) int {
	if g, ok := c.(*guest); ok {
		return g.pid
	}
	return 0
}

package sessiontest

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// memConn is one end of a connection in memory. Other than those of net.Pipe it holds some bytes on the way, as a network
// does: both sides of SSH speak first. It knows no deadlines, like tunnels.
type memConn struct {
	in, out *memLine
	rest    []byte // of the last packet read
	reading sync.Mutex
}

// memLine carries bytes one way.
type memLine struct {
	packets chan []byte
	close   sync.Once
	closed  chan struct{}
}

func newMemConns() (near, far *memConn) {
	a := &memLine{packets: make(chan []byte, 64), closed: make(chan struct{})}
	b := &memLine{packets: make(chan []byte, 64), closed: make(chan struct{})}
	return &memConn{in: a, out: b}, &memConn{in: b, out: a}
}

func (l *memLine) end() { l.close.Do(func() { close(l.closed) }) }

func (c *memConn) Read(b []byte) (int, error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	if len(c.rest) == 0 {
		select {
		case c.rest = <-c.in.packets:
		default:
			select {
			case c.rest = <-c.in.packets:
			case <-c.in.closed:
				return 0, io.EOF
			}
		}
	}
	n := copy(b, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

func (c *memConn) Write(b []byte) (int, error) {
	select {
	case <-c.out.closed:
		return 0, net.ErrClosed
	default:
	}
	select {
	case c.out.packets <- append([]byte(nil), b...):
		return len(b), nil
	case <-c.out.closed:
		return 0, net.ErrClosed
	}
}

func (c *memConn) Close() error {
	c.in.end()
	c.out.end()
	return nil
}

func (c *memConn) LocalAddr() net.Addr              { return memAddr }
func (c *memConn) RemoteAddr() net.Addr             { return memAddr }
func (c *memConn) SetDeadline(time.Time) error      { return os.ErrNoDeadline }
func (c *memConn) SetReadDeadline(time.Time) error  { return os.ErrNoDeadline }
func (c *memConn) SetWriteDeadline(time.Time) error { return os.ErrNoDeadline }

var memAddr = &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 22}

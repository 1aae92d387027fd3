package sshconn

import (
	"fmt"
	"io"
	"time"

	"golang.org/x/crypto/ssh"
)

// Where RekeyLimit is set it is our side that begins to exchange keys, and x/crypto (v0.58) keeps what is written meanwhile: 64
// packets, and whoever writes one more waits. If its loop that reads is one of them, because a server closes a channel just then, it
// never comes to the server's part of the exchange, and the connection stands still for good.
//
// So nobody writes more than a packet or two then: a packet that was not put on the wire was kept, and until something is put there
// nothing more is written and nothing more read, which would be confirmed. What is put on the wire next is the second message of the
// exchange, by when the library reads by itself. Should the connection stand still all the same, it is given up, and all calls end.

// pace is what is known of the exchange. It is part of wire.
type pace struct {
	wrote int64         // times that something was put on the wire; guarded by wire.mu, as is what follows
	kept  int64         // wrote when a packet was kept last; -1 before
	guess bool          // it is only likely that one was kept
	moved chan struct{} // closed when wrote grows; nil where nobody waits
	stuck chan struct{} // closed once the connection has stood still for too long; nil where it is the server that begins
}

const (
	onePacket = 16 << 10  // bytes that go into one packet of any server
	unseen    = 128 << 10 // after so many bytes were read a packet that confirms some was written, unless the server has closed the channel
	guessed   = time.Second
)

// exchangePatience is for how long nothing may arrive during an exchange. A variable for tests.
var exchangePatience = 30 * time.Second

// Write counts what is put on the wire.
func (w *wire) Write(b []byte) (int, error) {
	n, err := w.Conn.Write(b)
	if w.stuck != nil {
		w.mu.Lock()
		w.wrote++
		if w.moved != nil {
			close(w.moved)
			w.moved = nil
		}
		w.mu.Unlock()
	}
	return n, err
}

func (w *wire) written() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.wrote
}

// keeps notes that a packet was kept if nothing has been put on the wire since before.
func (w *wire) keeps(before int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.wrote == before {
		w.kept, w.guess = before, false
	}
}

// paced waits while packets are kept.
func (c *Conn) paced() {
	for w := c.w; w.stuck != nil; {
		w.mu.Lock()
		if w.kept != w.wrote {
			w.mu.Unlock()
			return
		}
		if w.moved == nil {
			w.moved = make(chan struct{})
		}
		moved, guess := w.moved, w.guess
		w.mu.Unlock()
		got, most := w.got.Load(), exchangePatience
		if guess {
			most = guessed
		}
		patience := time.NewTimer(most)
		select {
		case <-moved:
		case <-c.done:
		case <-w.stuck:
		case <-patience.C:
			if guess {
				w.guessed()
			} else if w.got.Load() == got {
				c.standsStill()
			}
			continue
		}
		patience.Stop()
		return
	}
}

// guessed ends the wait for a packet that was only likely to be kept.
func (w *wire) guessed() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.guess {
		w.kept, w.guess = -1, false
	}
}

// standsStill gives up a connection that has stood still during an exchange.
func (c *Conn) standsStill() {
	c.mu.Lock()
	first := c.cause == nil && !c.closed
	c.mu.Unlock()
	if first {
		c.giveUp(fmt.Sprintf("nothing came for %v while keys were to be exchanged again (RekeyLimit), so the connection is dead", exchangePatience))
	}
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	select {
	case <-c.w.stuck:
	default:
		close(c.w.stuck)
	}
}

// polite is a channel of a connection on which our side begins to exchange keys. Its calls end with the connection even where the
// library's do not.
type polite struct {
	ssh.Channel
	c *Conn

	readAt int64 // wrote when counting read began; guarded by wire.mu, as is what follows
	read   int   // bytes of either stream
	over   bool  // the server has closed the channel
}

// politely makes a channel polite where that matters.
func (c *Conn) politely(ch ssh.Channel, requests <-chan *ssh.Request) (ssh.Channel, <-chan *ssh.Request) {
	if c.w.stuck == nil {
		return ch, requests
	}
	p, out := &polite{Channel: ch, c: c}, make(chan *ssh.Request)
	go func() { // ends with the channel, or the connection
		defer close(out)
		defer func() {
			c.w.mu.Lock()
			defer c.w.mu.Unlock()
			p.over = true
		}()
		for {
			select {
			case r, ok := <-requests:
				if !ok {
					return
				}
				select {
				case out <- r:
				case <-c.w.stuck:
					return
				}
			case <-c.w.stuck:
				return
			}
		}
	}()
	return p, out
}

// does calls f, and reports false where the connection stands still before f returns: then what f writes to is not to be used.
func (c *Conn) does(f func()) bool {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
		return true
	case <-c.w.stuck:
		return false
	}
}

func (p *polite) Write(b []byte) (int, error) {
	done := 0
	for done < len(b) {
		p.c.paced()
		var n int
		var err error
		before := p.c.w.written()
		if !p.c.does(func() { n, err = p.Channel.Write(b[done:min(len(b), done+onePacket)]) }) {
			return done, io.EOF
		}
		p.c.w.keeps(before)
		if done += n; err != nil {
			return done, err
		}
	}
	return done, nil
}

func (p *polite) SendRequest(name string, reply bool, payload []byte) (bool, error) {
	p.c.paced()
	var ok bool
	var err error
	if !p.c.does(func() { ok, err = p.Channel.SendRequest(name, reply, payload) }) {
		return false, io.EOF
	}
	return ok, err
}

func (p *polite) CloseWrite() error { return p.end(p.Channel.CloseWrite) }
func (p *polite) Close() error      { return p.end(p.Channel.Close) }

func (p *polite) end(f func() error) error {
	p.c.paced()
	var err error
	if !p.c.does(func() { err = f() }) {
		return io.EOF
	}
	return err
}

func (p *polite) Read(b []byte) (int, error) { return p.reads(p.Channel, b) }
func (p *polite) Stderr() io.ReadWriter      { return politeErrors{p.Channel.Stderr(), p} }

type politeErrors struct {
	io.ReadWriter
	p *polite
}

func (e politeErrors) Read(b []byte) (int, error) { return e.p.reads(e.ReadWriter, b) }

// reads is a Read of the channel. What is read is confirmed once in a while.
func (p *polite) reads(from io.Reader, b []byte) (int, error) {
	p.c.paced()
	var n int
	var err error
	own := make([]byte, min(len(b), onePacket)) // the library may keep it for good
	if !p.c.does(func() { n, err = from.Read(own) }) {
		return 0, io.EOF
	}
	copy(b, own[:n])
	w := p.c.w
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.wrote != p.readAt {
		p.readAt, p.read = w.wrote, 0
	}
	if p.read += n; p.read > unseen && !p.over && w.kept != w.wrote {
		w.kept, w.guess = w.wrote, true
		p.read = 0
	}
	return n, err
}

// hangUp closes the connection under the library, which may never notice where it stands still.
func (c *Conn) hangUp() {
	if c.w.stuck == nil {
		c.ssh.Close()
		return
	}
	c.w.Conn.Close()
	go c.ssh.Close()
}

// ended waits for every goroutine of the connection, but not for those that the library holds for good.
func (c *Conn) ended() {
	if c.w.stuck == nil {
		c.wg.Wait()
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.wg.Wait()
	}()
	for range 2 {
		patience := time.NewTimer(closePatience)
		select {
		case <-done:
			patience.Stop()
			return
		case <-patience.C:
			c.standsStill()
		}
	}
}

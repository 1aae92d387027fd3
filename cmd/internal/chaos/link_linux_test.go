package chaos

import (
	"io"
	"net"
	"sync"
	"testing"
)

// link is a way to a server that can be cut, and stopped.
type link struct {
	l  net.Listener
	to string
	wg sync.WaitGroup

	mu    sync.Mutex // guards what follows
	conns map[net.Conn]struct{}
	pass  chan struct{} // closed while bytes pass
}

func newLink(t *testing.T, to string) *link {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	k := &link{l: l, to: to, conns: map[net.Conn]struct{}{}, pass: make(chan struct{})}
	close(k.pass)
	k.wg.Go(k.serve)
	t.Cleanup(func() {
		l.Close()
		k.cut()
		k.wg.Wait()
	})
	return k
}

func (k *link) serve() {
	for {
		a, err := k.l.Accept()
		if err != nil {
			return
		}
		b, err := net.Dial("tcp", k.to)
		if err != nil {
			a.Close()
			continue
		}
		k.mu.Lock()
		k.conns[a], k.conns[b] = struct{}{}, struct{}{}
		k.mu.Unlock()
		for from, to := range map[net.Conn]net.Conn{a: b, b: a} {
			k.wg.Go(func() {
				_, _ = io.Copy(passing{k, to}, from)
				from.Close()
				to.Close()
				k.mu.Lock()
				defer k.mu.Unlock()
				delete(k.conns, from)
			})
		}
	}
}

// passing writes to a connection while bytes pass.
type passing struct {
	k *link
	net.Conn
}

func (p passing) Write(b []byte) (int, error) {
	p.k.mu.Lock()
	now := p.k.pass
	p.k.mu.Unlock()
	<-now
	return p.Conn.Write(b)
}

// cut ends all connections.
func (k *link) cut() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for c := range k.conns {
		c.Close()
	}
}

// hold lets no byte pass until release is called.
func (k *link) hold() (release func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := make(chan struct{})
	k.pass = now
	return func() { close(now) }
}

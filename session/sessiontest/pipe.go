package sessiontest

import (
	"context"
	"net"
	"sync"
	"testing"
)

// Pipe returns a listener for sshserver.Config, and what connects to it, for sshconn's DialContext, whatever the address.
// The connections live in memory, so that both sides can be put into a bubble of testing/synctest.
func Pipe(t testing.TB) (net.Listener, func(ctx context.Context, network, addr string) (net.Conn, error)) {
	l := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	t.Cleanup(func() { l.Close() })
	return l, l.dial
}

type pipeListener struct {
	conns  chan net.Conn
	close  sync.Once
	closed chan struct{}
}

func (l *pipeListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	near, far := newMemConns()
	select {
	case l.conns <- far:
		return near, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.close.Do(func() { close(l.closed) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return memAddr }

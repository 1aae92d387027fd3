package mcp

import (
	"context"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
)

// conns knows which hosts are connected, from what a pool tells.
type conns struct {
	mu sync.Mutex
	m  map[string]*conn
}

type conn struct {
	open int
	err  error // of the last attempt
}

func newConns() *conns { return &conns{m: map[string]*conn{}} }

// trace is what to give to the pool's sessions.
func (c *conns) trace() *session.Trace {
	return &session.Trace{
		DialDone: func(_ context.Context, h hosts.Host, _ session.Peer, _ time.Duration, err error) {
			c.change(h, func(n *conn) {
				n.err = err
				if err == nil {
					n.open++
				}
			})
		},
		ConnClosed: func(_ context.Context, h hosts.Host, _ error) { c.change(h, func(n *conn) { n.open-- }) },
	}
}

func (c *conns) change(h hosts.Host, f func(*conn)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.m[h.Name]
	if n == nil {
		n = &conn{}
		c.m[h.Name] = n
	}
	f(n)
}

// state tells "connected", or why the last attempt failed.
func (c *conns) state(h hosts.Host) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch n := c.m[h.Name]; {
	case n == nil:
		return "", nil
	case n.open > 0:
		return "connected", nil
	default:
		return "", n.err
	}
}

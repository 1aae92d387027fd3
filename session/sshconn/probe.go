package sshconn

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead-ssh/fairlead/session"
)

// probe is one request that the server must answer, if only with no. Everybody who wants to know waits for the same one:
// the library sends them one at a time anyway.
type probe struct {
	done chan struct{}
	err  error
}

// ask returns the probe under way, or starts one. It returns nil when the connection is closed.
func (c *Conn) ask() *probe {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil
	}
	if c.probe != nil {
		return c.probe
	}
	p := &probe{done: make(chan struct{})}
	c.probe = p
	c.wg.Go(func() {
		_, _, p.err = c.ssh.SendRequest("keepalive@openssh.com", true, nil)
		c.mu.Lock()
		c.probe = nil
		c.mu.Unlock()
		close(p.done)
	})
	return p
}

// Ping checks with a round trip that the connection lives.
func (c *Conn) Ping(ctx context.Context) error {
	if ctx.Err() != nil {
		return fmt.Errorf("sshconn: %s: not probed: %w", c.t.name, context.Cause(ctx))
	}
	p := c.ask()
	if p == nil {
		return c.reason()
	}
	select {
	case <-p.done:
		if p.err == nil {
			return nil
		}
		if err := c.reason(); err != nil {
			return err
		}
		return fmt.Errorf("sshconn: %s: the connection broke%s: %w", c.t.name, plain(p.err), session.ErrClosed)
	case <-ctx.Done():
		return fmt.Errorf("sshconn: %s: no answer to a probe: %w", c.t.name, context.Cause(ctx))
	}
}

// keepAlive probes the connection, and gives it up when too many probes in a row have no answer.
func (c *Conn) keepAlive(every time.Duration, most int) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	missed := 0
	var answered <-chan struct{} // of the probe under way
	for {
		select {
		case <-c.done:
			return
		case <-answered:
			answered, missed = nil, 0
		case <-tick.C:
			if answered == nil {
				p := c.ask()
				if p == nil {
					return
				}
				answered = p.done
				continue
			}
			if missed++; missed >= most {
				c.giveUp(fmt.Sprintf("no answer to probes for %v, so the connection is dead", time.Duration(most)*every))
				return
			}
		}
	}
}

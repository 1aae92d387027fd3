package sshconn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
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

// Ping checks with a round trip that the connection lives. Where that takes longer than ctx allows, it lives if anything
// has come meanwhile.
func (c *Conn) Ping(ctx context.Context) error {
	if ctx.Err() != nil {
		return fmt.Errorf("sshconn: %s: not probed: %w", c.t.name, ctxerr.Of(ctx))
	}
	if c.shared {
		return c.reason()
	}
	got := c.w.got.Load()
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
		if errors.Is(ctx.Err(), context.DeadlineExceeded) && c.w.got.Load() != got {
			return nil
		}
		return fmt.Errorf("sshconn: %s: no answer to a probe: %w", c.t.name, ctxerr.Of(ctx))
	}
}

// keepAlive probes the connection now and then, and gives it up when too many probes in a row have no answer. It is a
// timer and not a goroutine, because there are many connections that are idle.
type keepAlive struct {
	every  time.Duration
	most   int
	timer  *time.Timer // guarded by Conn.mu, as is what follows
	asked  *probe      // the last one
	got    int64       // bytes that had come by then
	missed int
}

// watch starts to probe c.
func (c *Conn) watch(every time.Duration, most int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.alive = keepAlive{every: every, most: most}
	c.alive.timer = time.AfterFunc(every, c.tick)
}

func (c *Conn) tick() {
	if !c.enter() {
		return
	}
	defer c.wg.Done()
	select {
	case <-c.done:
		return
	default:
	}
	p := c.ask()
	if p == nil {
		return
	}
	c.mu.Lock()
	k := &c.alive
	// Whatever comes is an answer: a slow link that is busy holds the real one back.
	if got := c.w.got.Load(); p != k.asked || got != k.got {
		k.asked, k.got, k.missed = p, got, 0
	} else {
		k.missed++
	}
	dead := k.missed >= k.most
	if !dead {
		k.timer.Reset(k.every)
	}
	c.mu.Unlock()
	if dead {
		c.giveUp(fmt.Sprintf("no answer to probes for %v, so the connection is dead", time.Duration(k.most)*k.every))
	}
}

// unwatch stops probing. The caller holds Conn.mu.
func (k *keepAlive) unwatch() {
	if k.timer != nil {
		k.timer.Stop()
	}
}

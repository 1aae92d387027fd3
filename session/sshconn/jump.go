package sshconn

import (
	"context"
	"errors"

	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/clock"
)

// jump is a connection to a jump host, shared by everybody who goes through it.
type jump struct {
	key    string
	clk    *clock.Clock  // of dialing; who waits stands still with it
	ready  chan struct{} // closed once dialing has ended
	conn   *Conn         // valid after ready; nil if there is err
	err    error
	refs   int // guarded by Dialer.mu: connections through it, and who waits
	cancel context.CancelFunc
}

// through returns a connection to the last hop of route, which the caller must release. One caller dials for all: a
// caller that gives up does not take the others' connection away.
func (d *Dialer) through(clk *clock.Clock, route []*target) (*jump, error) {
	key := ""
	for _, t := range route {
		key = t.key(key)
	}
	d.unlessValid(key)
	d.mu.Lock()
	j := d.jumps[key]
	if j == nil || j.gone() {
		j = d.newJump(clk, key, route)
		d.jumps[key] = j
	}
	j.refs++
	d.mu.Unlock()

	defer j.clk.Follow(clk)()
	select {
	case <-j.ready:
	case <-clk.Done():
		d.release(j)
		last := route[len(route)-1]
		e, what := &Error{Host: last.name, Addr: last.addr()}, "it has not let us in"
		select {
		case <-j.ready: // nobody else waited; it knows how far it came
			if was, ok := errors.AsType[*Error](j.err); ok {
				*e = *was
				if at, ok := map[Step]stage{StepReach: reaching, StepGreet: greeting, StepExchange: agreeing, StepLogin: entering}[was.Step]; ok {
					what = hushed(at, was.heard)
				}
			}
		default:
		}
		e.Err = silent(clk, what)
		return nil, e
	}
	if j.err != nil {
		d.release(j)
		return nil, j.err
	}
	return j, nil
}

// unlessValid has the next caller dial anew where the connection to a jump host takes no new work. Those who go through it still do.
func (d *Dialer) unlessValid(key string) {
	d.mu.Lock()
	j := d.jumps[key]
	d.mu.Unlock()
	if j == nil || !j.made() || j.conn.Validate() == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.jumps[key] == j {
		delete(d.jumps, key)
	}
}

// made reports whether j has a connection, or had one.
func (j *jump) made() bool {
	select {
	case <-j.ready:
		return j.err == nil
	default:
		return false
	}
}

// newJump starts to dial. Dialing ends when nobody waits for it any more.
func (d *Dialer) newJump(first *clock.Clock, key string, route []*target) *jump {
	limit := d.timeout(route[len(route)-1])
	if first.Limit >= 0 && (limit < 0 || limit > first.Limit) {
		limit = first.Limit
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(first))
	j := &jump{key: key, clk: clock.New(ctx, limit), ready: make(chan struct{}), cancel: cancel}
	go func() {
		defer close(j.ready)
		defer j.clk.Stop()
		j.conn, j.err = d.dialRoute(j.clk, route, key)
	}()
	return j
}

// gone reports whether j is of no use to anybody who comes now.
func (j *jump) gone() bool {
	select {
	case <-j.ready:
	default:
		return false
	}
	if j.err != nil {
		return true
	}
	select {
	case <-j.conn.done:
		return true
	default:
		return false
	}
}

// release gives j back. The last one to do so ends it.
func (d *Dialer) release(j *jump) {
	d.mu.Lock()
	j.refs--
	last := j.refs == 0
	if last && d.jumps[j.key] == j {
		delete(d.jumps, j.key)
	}
	d.mu.Unlock()
	if !last {
		return
	}
	j.cancel()
	<-j.ready
	if j.conn != nil {
		j.conn.Close()
	}
}

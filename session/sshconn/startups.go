package sshconn

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"
)

// A server takes only so many connections that have not logged in (MaxStartups, 10 as a rule, for all its clients together), and
// hangs up on others before it says a word.
const (
	maxStartups  = 8 // of ours at one address at a time
	startRetries = 3
	startWait    = 500 * time.Millisecond // before the first retry; twice as long before each further one
)

// startups limits how many connections to each address have not logged in yet. The zero value is ready.
type startups struct {
	mu sync.Mutex
	by map[string]*address
}

// address is one that is being connected to.
type address struct {
	most    int // at a time; less once the server has hung up
	running int
	users   int           // running and waiting
	freed   chan struct{} // closed when one has ended
}

// take waits for a place at an address. The caller gives it back, and says whether the server hung up unheard.
func (s *startups) take(ctx context.Context, addr string) (give func(dropped bool), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by == nil {
		s.by = map[string]*address{}
	}
	a := s.by[addr]
	if a == nil {
		a = &address{most: maxStartups, freed: make(chan struct{})}
		s.by[addr] = a
	}
	a.users++
	for a.running >= a.most {
		freed := a.freed
		s.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
		}
		s.mu.Lock()
		if ctx.Err() != nil {
			s.leave(addr, a)
			return nil, context.Cause(ctx)
		}
	}
	a.running++
	return func(dropped bool) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if dropped {
			a.most = max(1, min(a.most, a.running)-1)
		}
		a.running--
		close(a.freed)
		a.freed = make(chan struct{})
		s.leave(addr, a)
	}, nil
}

// leave forgets an address that is not used. s.mu is held.
func (s *startups) leave(addr string, a *address) {
	if a.users--; a.users == 0 {
		delete(s.by, addr)
	}
}

// admitted connects as f does, once there is room at the address, and again where the server hung up before it knew who asks.
func (d *Dialer) admitted(clk *clock, t *target, via *jump, f func() (*Conn, error)) (*Conn, error) {
	addr := t.addr()
	if via != nil {
		addr = via.key + "\x00" + addr
	}
	for try := 0; ; try++ {
		give, err := d.turn(clk, addr)
		if err != nil {
			return nil, &Error{Host: t.name, Addr: t.addr(), Step: StepReach, Err: err}
		}
		c, err := f()
		dropped := tooBusy(err)
		give(dropped)
		if !dropped || clk.Err() != nil {
			return c, err
		}
		if try == startRetries {
			e := *err.(*Error)
			e.Err = fmt.Errorf("%w; tried %d times", e.Err, try+1)
			return nil, &e
		}
		wait := startWait << try
		again := time.NewTimer(wait/2 + rand.N(wait/2))
		select {
		case <-again.C:
		case <-clk.Done():
			again.Stop()
			return nil, err
		}
	}
}

// turn waits for a place. The clock stands still: others are connecting, and nothing is wrong with the server.
func (d *Dialer) turn(clk *clock, addr string) (func(bool), error) {
	clk.pause()
	defer clk.resume()
	return d.startups.take(clk, addr)
}

// tooBusy reports whether a server hung up as one does that has too many connections. One that says another reason means it.
func tooBusy(err error) bool {
	e, ok := errors.AsType[*Error](err)
	if !ok || !e.Early || e.Hop != "" {
		return false
	}
	return e.Step == StepGreet && (e.heard == "" || saysBusy(e.heard))
}

// saysBusy reports whether a server hung up with the words of OpenSSH's sshd for too many connections (drop_connection in its
// sshd.c). From 9.8 on they are the same for an address that it keeps out for a while (PerSourcePenalties); trying again there
// costs the time and nothing else, because only what happens behind the greeting adds to a penalty.
func saysBusy(heard string) bool {
	return strings.Contains(heard, "Exceeded MaxStartups") || strings.Contains(heard, "Not allowed at this time")
}

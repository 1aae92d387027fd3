package sshconn

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/session/sshconn/internal/clock"
)

// A server takes only so many connections that have not logged in (MaxStartups, 10 as a rule, for all its clients together), and
// hangs up on others before it says a word.
const (
	maxStartups  = 8 // of ours at one address at a time
	startRetries = 3
	startMost    = 20                     // retries where others have got in
	startWait    = 500 * time.Millisecond // before the first retry; twice as long before each further one
	startLong    = 4 * time.Second        // and no longer than that
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
	users   int           // who have joined
	freed   chan struct{} // closed when one has ended
	shared  bool          // the server has hung up: other processes connect to it as well, and have their turns
	let     bool          // it has let in one of ours
}

// join returns the address, which is known for as long as somebody has joined it.
func (s *startups) join(addr string) *address {
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
	return a
}

func (s *startups) leave(addr string, a *address) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.users--; a.users == 0 {
		delete(s.by, addr)
	}
}

// take waits for a place, which must be given back.
func (s *startups) take(ctx context.Context, a *address) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for a.running >= a.most {
		freed := a.freed
		s.mu.Unlock()
		select {
		case <-freed:
		case <-ctx.Done():
		}
		s.mu.Lock()
		if ctx.Err() != nil {
			return ended(ctx)
		}
	}
	a.running++
	return nil
}

// give gives a place back, and says whether the server hung up unheard. Where others want the server as well they get time to. let
// tells that the server has let in one of ours.
func (s *startups) give(a *address, dropped bool) (let bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	free := func() {
		a.running--
		close(a.freed)
		a.freed = make(chan struct{})
	}
	switch {
	case dropped:
		a.most, a.shared = max(1, min(a.most, a.running)-1), true
		free()
	case a.shared && a.users > a.running:
		a.let = true
		time.AfterFunc(rand.N(startWait/2), func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			free()
		})
	default:
		a.let = true
		free()
	}
	return a.let
}

// admitted connects as f does, once there is room at the address, and again where the server hung up before it knew who asks: some
// times, and as long as there is time where it has let in another connection of ours.
func (d *Dialer) admitted(clk *clock.Clock, t *target, via *jump, f func() (*Conn, error)) (*Conn, error) {
	addr := t.addr()
	if via != nil {
		addr = via.key + "\x00" + addr
	}
	a := d.startups.join(addr)
	defer d.startups.leave(addr, a)
	for try := 0; ; try++ {
		if err := d.turn(clk, a); err != nil {
			return nil, &Error{Host: t.name, Addr: t.addr(), Step: StepReach, Err: err}
		}
		c, err := f()
		dropped := tooBusy(err)
		let := d.startups.give(a, dropped)
		switch {
		case !dropped || clk.Err() != nil:
			return c, err
		case try == startRetries && !let, try == startMost:
			return nil, triedAgain(err, try+1)
		}
		wait := min(startWait<<try, startLong)
		again := time.NewTimer(wait/2 + rand.N(wait/2))
		select {
		case <-again.C:
		case <-clk.Done():
			again.Stop()
			return nil, triedAgain(err, try+1)
		}
	}
}

// triedAgain is the error of a server that hung up each time.
func triedAgain(err error, tries int) error {
	e := *err.(*Error)
	e.Err = fmt.Errorf("%w; tried %d times", e.Err, tries)
	return &e
}

// turn waits for a place. The clock stands still: others are connecting, and nothing is wrong with the server.
func (d *Dialer) turn(clk *clock.Clock, a *address) error {
	clk.Pause()
	defer clk.Resume()
	return d.startups.take(clk, a)
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

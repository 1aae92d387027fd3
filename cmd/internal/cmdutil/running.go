package cmdutil

import (
	"context"
	"sync"
	"syscall"
	"time"
)

// Running knows where commands may be running, for a program that ends without waiting for them. The zero value is ready
// for use, and a nil one knows of none.
type Running struct {
	mu     sync.Mutex
	hosts  func() []string
	cancel context.CancelCauseFunc // of the command that an interrupt ends, and not the program
	again  bool                    // it had one
	yields int                     // programs in the foreground that interrupts are left to
}

// Yield leaves interrupts to a program in the foreground, which hears of them as well, until release is called.
func (r *Running) Yield() (release func()) {
	if r == nil {
		return func() {}
	}
	add := func(n int) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.yields += n
	}
	add(1)
	return func() { add(-1) }
}

// Catch has interrupts end a command, with a *SignalError as the cause, and not the program, until release is called. A
// second one ends the program at once, as always.
func (r *Running) Catch(cancel context.CancelCauseFunc) (release func()) {
	if r == nil {
		return func() {}
	}
	set := func(c context.CancelCauseFunc) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.cancel, r.again = c, false
	}
	set(cancel)
	return func() { set(nil) }
}

// Interrupt gives a signal to the command that catches it, or leaves it to a program in the foreground. caught is false where there is
// neither; again says that it is not the
// first one, so that the program ends.
func (r *Running) Interrupt(sig *SignalError) (caught, again bool) {
	if r == nil || sig.Signal != syscall.SIGINT {
		return false, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.yields > 0 {
		return true, false
	}
	if r.cancel == nil {
		return false, false
	}
	again, r.again = r.again, true
	if !again {
		r.cancel(sig)
	}
	return true, again
}

// Track lets hosts say where commands run, until stop is called.
func (r *Running) Track(hosts func() []string) (stop func()) {
	if r == nil {
		return func() {}
	}
	set := func(f func() []string) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.hosts = f
	}
	set(hosts)
	return func() { set(nil) }
}

// hostsPatience is how long Hosts waits for an answer: who asks is about to end.
const hostsPatience = 200 * time.Millisecond

// Hosts returns where commands may be running. ok is false if that is not known in time.
func (r *Running) Hosts() (hosts []string, ok bool) {
	if r == nil {
		return nil, true
	}
	said := make(chan []string, 1)
	go func() {
		r.mu.Lock()
		f := r.hosts
		r.mu.Unlock()
		if f == nil {
			said <- nil
			return
		}
		said <- f()
	}()
	select {
	case hosts = <-said:
		return hosts, true
	case <-time.After(hostsPatience):
		return nil, false
	}
}

package cmdutil

import (
	"sync"
	"time"
)

// Running knows where commands may be running, for a program that ends without waiting for them. The zero value is ready
// for use, and a nil one knows of none.
type Running struct {
	mu    sync.Mutex
	hosts func() []string
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

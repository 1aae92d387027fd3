package registry

import (
	"slices"
	"time"
)

// Changed returns a channel that is closed with the next command. Whoever follows a session asks for it before looking at
// what is there, so that nothing comes in between. See also Done and Since.
func (e *Entry) Changed() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.more == nil {
		e.more = make(chan struct{})
	}
	return e.more
}

// tell wakes who waits for a command.
func (e *Entry) tell() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.more != nil {
		close(e.more)
		e.more = nil
	}
}

// Done is closed when the session is, and what ran in it has ended.
func (e *Entry) Done() <-chan struct{} { return e.gone }

// Since returns the commands that were started after x, the oldest first, as far as they can still be looked at; all of
// them where x is nil. What made the session ready is not among them.
func (e *Entry) Since(x *Exec) []*Exec {
	var after uint64
	r := e.r
	r.mu.Lock()
	defer r.mu.Unlock()
	if x != nil {
		after = x.n
	}
	var found []*Exec
	for _, y := range slices.Backward(r.execs.order) {
		if y.n <= after {
			break
		}
		if y.e == e && !y.cmd.own {
			found = append(found, y)
		}
	}
	slices.Reverse(found)
	return found
}

// Began tells when the command was asked for, and in which directory its session was.
func (x *Exec) Began() (at time.Time, dir string) { return x.began, x.dir }

package registry

import (
	"slices"
	"time"
)

// shelf is the commands that can be looked at, in the order of their start.
type shelf struct {
	byID   map[string]*Exec
	order  []*Exec
	stored int64  // bytes of those that have ended
	count  uint64 // of all that ever were
}

func (s *shelf) add(x *Exec) {
	s.count++
	x.n = s.count
	s.byID[x.ID()] = x
	s.order = append(s.order, x)
}

func (s *shelf) remove(x *Exec) bool {
	if s.byID[x.ID()] != x {
		return false
	}
	delete(s.byID, x.ID())
	s.stored -= x.counted
	x.counted = 0
	i := slices.Index(s.order, x)
	s.order = slices.Delete(s.order, i, i+1)
	return true
}

func (s *shelf) all() []*Exec { return s.order }

// excess takes out the oldest ended commands until what is left fits. Those that run are not counted in bytes.
func (s *shelf) excess(most int, bytes int64) (out []*Exec) {
	fits := func() bool { return (most <= 0 || len(s.order) <= most) && (bytes <= 0 || s.stored <= bytes) }
	for i := 0; i < len(s.order) && !fits(); {
		x := s.order[i]
		if x.Running() {
			i++
			continue
		}
		s.remove(x)
		out = append(out, x)
	}
	return out
}

// keep puts a command on the shelf, and makes room.
func (r *Registry) keep(x *Exec) {
	r.mu.Lock()
	r.execs.add(x)
	out := r.execs.excess(r.cfg.MaxExecs, r.cfg.MaxStored)
	r.mu.Unlock()
	for _, x := range out {
		x.drop()
	}
}

// expire makes room after x has ended, and lets it be forgotten some time.
func (r *Registry) expire(x *Exec) {
	r.mu.Lock()
	if r.execs.byID[x.ID()] == x {
		x.counted = x.stored()
		r.execs.stored += x.counted
	}
	out := r.execs.excess(r.cfg.MaxExecs, r.cfg.MaxStored)
	r.mu.Unlock()
	for _, x := range out {
		x.drop()
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if r.cfg.KeepFor > 0 && !x.gone {
		x.expiry = time.AfterFunc(r.cfg.KeepFor, func() { r.forget(x) })
	}
}

// forget takes a command off the shelf.
func (r *Registry) forget(x *Exec) {
	r.mu.Lock()
	mine := r.execs.remove(x)
	r.mu.Unlock()
	if mine {
		x.drop()
	}
}

package realm

import (
	"sync"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
)

// states knows which hosts are connected, from what a pool tells.
type states struct {
	mu sync.Mutex
	m  map[string]*state
}

type state struct {
	open int
	err  error // of the last attempt
}

func newStates() *states { return &states{m: map[string]*state{}} }

func (s *states) of(host string) *state {
	n := s.m[host]
	if n == nil {
		n = &state{}
		s.m[host] = n
	}
	return n
}

func (s *states) dialed(host string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.of(host)
	if n.err = err; err == nil {
		n.open++
	}
}

func (s *states) closed(host string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.of(host).open--
}

// text tells "connected", or why the last attempt failed; "" where there was none.
func (s *states) text(host string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch n := s.m[host]; {
	case n == nil:
		return ""
	case n.open > 0:
		return "connected"
	case n.err != nil:
		return cmdutil.Why(n.err)
	}
	return ""
}

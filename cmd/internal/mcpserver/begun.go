package mcpserver

import (
	"sync"

	"github.com/fairlead-ssh/fairlead/session/registry"
)

// begun is what the clients of a server have begun, for the end of the last of them.
type begun struct {
	mu       sync.Mutex
	left     bool
	sessions map[string]*registry.Entry // those without a name, by id
	execs    map[*registry.Exec]struct{}
	fleets   map[*registry.Fleet]struct{}
}

func newBegun() *begun {
	return &begun{sessions: map[string]*registry.Entry{}, execs: map[*registry.Exec]struct{}{}, fleets: map[*registry.Fleet]struct{}{}}
}

// opened notes a session. One that came too late is closed.
func (s *Server) opened(e *registry.Entry) {
	b := s.begun
	b.mu.Lock()
	left := b.left
	for id := range b.sessions {
		if _, err := s.cfg.Registry.Get(s.cfg.Principal, id); err != nil {
			delete(b.sessions, id)
		}
	}
	if e.Name() == "" {
		b.sessions[e.ID()] = e
	}
	b.mu.Unlock()
	if left {
		e.Close()
	}
}

// started notes a command. One that came too late is stopped.
func (s *Server) started(x *registry.Exec) {
	b := s.begun
	b.mu.Lock()
	left := b.left
	for other := range b.execs {
		if !other.Running() {
			delete(b.execs, other)
		}
	}
	b.execs[x] = struct{}{}
	b.mu.Unlock()
	if left {
		x.Stop()
	}
}

// sent notes a run on many hosts. One that came too late is stopped.
func (s *Server) sent(f *registry.Fleet) {
	b := s.begun
	b.mu.Lock()
	left := b.left
	for other := range b.fleets {
		select {
		case <-other.Done():
			delete(b.fleets, other)
		default:
		}
	}
	b.fleets[f] = struct{}{}
	b.mu.Unlock()
	if left {
		f.Stop()
	}
}

// Leave ends what this server's clients have begun and its registry would go on with: commands that run are stopped, and
// sessions without a name are closed. Sessions with a name stay, for whoever comes next. It returns when all of it has
// ended; what clients begin afterwards ends at once.
func (s *Server) Leave() {
	b := s.begun
	b.mu.Lock()
	b.left = true
	sessions, execs, fleets := b.sessions, b.execs, b.fleets
	b.sessions, b.execs, b.fleets = map[string]*registry.Entry{}, map[*registry.Exec]struct{}{}, map[*registry.Fleet]struct{}{}
	b.mu.Unlock()
	var wg sync.WaitGroup
	for f := range fleets {
		wg.Go(f.Stop)
	}
	for _, e := range sessions {
		wg.Go(e.Close)
	}
	for x := range execs {
		wg.Go(func() {
			if x.Running() && sessions[x.Entry().ID()] == nil { // closing ends the others
				x.Stop()
			}
		})
	}
	wg.Wait()
}

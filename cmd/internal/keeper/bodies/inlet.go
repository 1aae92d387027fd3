// Package bodies joins the body of a request, or of its answer, with a command that runs meanwhile: what a host of a run reads
// as its standard input, and what it sends of the files of a download.
//
// Neither side has to come first. Each ends the other when it goes away, and none waits for one that has gone.
package bodies

import (
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

// Inlets are the standard inputs of the hosts of a run, by their place.
type Inlets struct {
	mu sync.Mutex
	m  map[int]*Inlet
}

// NewInlets returns none yet.
func NewInlets() *Inlets { return &Inlets{m: map[int]*Inlet{}} }

// Open makes that of a host whose turn has come. wanted is called when the first byte is wanted.
func (s *Inlets) Open(host int, wanted func()) *Inlet {
	in := &Inlet{wanted: sync.OnceFunc(wanted), came: make(chan struct{}), over: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.m[host] = in
	return in
}

// Of returns that of a host, which is open.
func (s *Inlets) Of(host int) *Inlet {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.m[host]
}

// Close ends that of a host that has ended; it need not have one.
func (s *Inlets) Close(host int) {
	s.mu.Lock()
	in := s.m[host]
	delete(s.m, host)
	s.mu.Unlock()
	if in != nil {
		in.End()
	}
}

// Take makes a request the source of a host's.
func (s *Inlets) Take(host int, r *http.Request) (*Inlet, *wire.Problem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	in := s.m[host]
	switch {
	case in == nil:
		return nil, problem.New(http.StatusConflict, registry.CodeNotRunning, "that host has not begun, or has ended")
	case in.from != nil:
		return nil, problem.New(http.StatusConflict, registry.CodeConflict, "that host has its standard input already")
	}
	in.from = r
	in.body = r.Body
	close(in.came)
	return in, nil
}

// Inlet is the standard input of one host.
type Inlet struct {
	wanted func()

	came chan struct{} // closed when there is a source
	over chan struct{} // closed when nobody reads any more
	read atomic.Bool   // to its end
	once sync.Once     // of over
	from *http.Request // set before came is closed

	mu   sync.Mutex // held while the body is read
	body io.Reader  // nil when the request has been answered
}

var errInletOver = errors.New("its sender is gone")

// Read reads what the sender sends. A sender that goes away is an error, and so is what it says in the trailer.
func (in *Inlet) Read(p []byte) (int, error) {
	in.wanted()
	select {
	case <-in.came:
	case <-in.over:
		return 0, errInletOver
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.body == nil {
		return 0, errInletOver
	}
	n, err := in.body.Read(p)
	switch {
	case errors.Is(err, io.EOF):
		if why := in.from.Trailer.Get(wire.StdinError); why != "" {
			err = errors.New(why)
		}
		in.read.Store(true)
		in.End()
	case err != nil:
		err = errInletOver
		in.End()
	}
	return n, err
}

// Over is closed when nobody reads any more.
func (in *Inlet) Over() <-chan struct{} { return in.over }

// WasRead reports whether it was read to its end.
func (in *Inlet) WasRead() bool { return in.read.Load() }

// Close ends a Read that waits, and refuses what has not been read.
func (in *Inlet) Close() error {
	in.End()
	return nil
}

// End ends it: its sender is answered.
func (in *Inlet) End() { in.once.Do(func() { close(in.over) }) }

// Leave keeps the body from being read once its request is answered.
func (in *Inlet) Leave() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.body = nil
	in.End()
}

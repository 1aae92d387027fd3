package bodies

import (
	"errors"
	"io"
	"sync"
)

// Outlets are what a download sends from each host, by its place. A nil one has none.
type Outlets struct {
	mu   sync.Mutex
	m    map[int]*Outlet
	over bool
}

// NewOutlets returns none yet.
func NewOutlets() *Outlets { return &Outlets{m: map[int]*Outlet{}} }

// Of returns that of a host: whoever asks first, sender or taker, makes it.
func (s *Outlets) Of(host int) *Outlet {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.m[host]
	if o == nil {
		o = &Outlet{came: make(chan struct{}), over: make(chan struct{})}
		s.m[host] = o
		if s.over {
			_ = o.Close()
		}
	}
	return o
}

// Close ends all, also those that are asked for later: the run has ended.
func (s *Outlets) Close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = true
	for _, o := range s.m {
		_ = o.Close()
	}
}

// End ends that of a host that has ended.
func (s *Outlets) End(host int) {
	if s != nil {
		_ = s.Of(host).Close()
	}
}

// Outlet is what one host sends.
type Outlet struct {
	came chan struct{} // closed when somebody takes it
	over chan struct{} // closed when no more comes
	once sync.Once     // of over

	mu    sync.Mutex // held while it is written
	to    io.Writer  // nil before and after
	taken bool
}

var errNotTaken = errors.New("the reader of the files is gone")

// Take makes w what it is written to, once.
func (o *Outlet) Take(w io.Writer) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.taken {
		return false
	}
	o.to, o.taken = w, true
	close(o.came)
	return true
}

// Write waits for a taker.
func (o *Outlet) Write(p []byte) (int, error) {
	select {
	case <-o.came:
	case <-o.over:
		return 0, errNotTaken
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.to == nil {
		return 0, errNotTaken
	}
	n, err := o.to.Write(p)
	if err != nil {
		o.to = nil
		err = errNotTaken
	}
	return n, err
}

// Over is closed when no more comes.
func (o *Outlet) Over() <-chan struct{} { return o.over }

// Close says that no more comes.
func (o *Outlet) Close() error {
	o.once.Do(func() { close(o.over) })
	return nil
}

// Leave keeps the answer from being written once its request has ended.
func (o *Outlet) Leave() {
	o.mu.Lock()
	o.to = nil
	o.mu.Unlock()
	_ = o.Close()
}

package terminals

import "sync"

// following lets others read a recording while it is made.
type following struct {
	done chan struct{} // closed with it
	end  sync.Once     // of done

	mu   sync.Mutex    // guards what follows
	more chan struct{} // closed with what is recorded next; nil when nobody waits
}

// Changed returns a channel that is closed with the next output or size. Whoever follows a recording asks for it before
// reading what is there, so that nothing comes in between. See also Done.
func (r *Recording) Changed() <-chan struct{} {
	f := &r.follow
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.more == nil {
		f.more = make(chan struct{})
	}
	return f.more
}

// Done is closed when nothing more will come.
func (r *Recording) Done() <-chan struct{} { return r.follow.done }

// tell wakes who waits for it.
func (f *following) tell() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.more != nil {
		close(f.more)
		f.more = nil
	}
}

func (f *following) close() { f.end.Do(func() { close(f.done) }) }

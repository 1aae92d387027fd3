package hostfs

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

// Programs on a host that copies wait for have a limit. Variables for tests.
var (
	ProgramWait = 30 * time.Second // without a byte from a program or to it
	SyncWait    = 10 * time.Minute // putting files on disk, which says nothing before its end
)

// idle ends a context when a program makes no progress for a time. That is counted in ticks, so that this process may be
// suspended meanwhile.
type idle struct {
	cancel context.CancelCauseFunc
	wait   time.Duration
	why    error

	mu    sync.Mutex // guards what follows
	timer *time.Timer
	ticks int // without progress
	held  int // waits for something else than the program
	ended bool
}

const idleTicks = 4

// withIdle returns a context that ends with why when there is no beat for so long. stop must be called.
func withIdle(ctx context.Context, wait time.Duration, why error) (_ context.Context, i *idle, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	i = &idle{cancel: cancel, wait: wait, why: why}
	i.mu.Lock()
	i.timer = time.AfterFunc(wait/idleTicks, i.tick)
	i.mu.Unlock()
	return ctx, i, func() {
		i.mu.Lock()
		i.ended = true
		i.timer.Stop()
		i.mu.Unlock()
		cancel(nil)
	}
}

func (i *idle) tick() {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.ended:
		return
	case i.held > 0:
		i.ticks = 0
	default:
		i.ticks++
	}
	if i.ticks >= idleTicks {
		i.cancel(i.why)
		return
	}
	i.timer.Reset(i.wait / idleTicks)
}

// beat says that there is progress.
func (i *idle) beat() { i.hold(0) }

// hold adds to how much is waited for elsewhere: a source that gives nothing is no fault of the program.
func (i *idle) hold(n int) {
	i.mu.Lock()
	i.held += n
	i.ticks = 0
	i.mu.Unlock()
}

// idleReader is what a program is given.
type idleReader struct {
	r io.Reader
	i *idle
}

func (r idleReader) Read(p []byte) (int, error) {
	r.i.hold(1)
	defer r.i.hold(-1)
	return r.r.Read(p)
}

// idleWriter takes what a program prints, if it is not nil.
type idleWriter struct {
	w io.Writer
	i *idle
}

func (w idleWriter) Write(p []byte) (int, error) {
	w.i.hold(1)
	defer w.i.hold(-1)
	if w.w == nil {
		return len(p), nil
	}
	return w.w.Write(p)
}

// errTalks is a program that prints more than it can have to say.
var errTalks = errors.New("it prints without end")

// heard is what a program prints, up to so much. Then full is called, once, and the rest is thrown away.
type heard struct {
	mu   sync.Mutex // guards what follows
	text []byte
	left int
	full func()
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := min(len(p), h.left)
	h.text = append(h.text, p[:n]...)
	if h.left -= n; n < len(p) && h.full != nil {
		h.full()
		h.full = nil
	}
	return len(p), nil
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return string(h.text)
}

package iostreams

import (
	"context"
	"errors"
	"io"
	"os"
	"sync/atomic"
	"time"
)

// errStuck is why a stream fails that nobody reads.
var errStuck = errors.New("it takes no more, and a signal ends the program")

// End bounds what is written once ctx has ended, or is being written then: a write that takes longer than grace after that fails,
// and the stream with it. So a program that is told to end does, also where nothing takes its output. It is called before
// anything is written.
func (s *IOStreams) End(ctx context.Context, grace time.Duration) {
	s.screen.end.Store(&end{ctx, grace})
}

type end struct {
	ctx   context.Context
	grace time.Duration
}

// ending is a writer that obeys End. It is for one goroutine at a time.
type ending struct {
	w   io.Writer
	end *atomic.Pointer[end]
	f   *os.File // w, if it is one
	reg bool     // w is a regular file, which takes everything
	own []byte   // what is written, which the caller may change once Write has returned; nil while a write that was given up has it
}

// mostKept bounds what own keeps.
const mostKept = 256 << 10

func newEnding(w io.Writer, end *atomic.Pointer[end]) *ending {
	e := &ending{w: w, end: end}
	if f, ok := w.(*os.File); ok {
		st, err := f.Stat()
		e.f, e.reg = f, err == nil && st.Mode().IsRegular()
	}
	return e
}

func (e *ending) Write(p []byte) (int, error) {
	end := e.end.Load()
	if end == nil || e.reg {
		return e.w.Write(p)
	}
	began := 0
	if e.f != nil {
		if began = atOnce(e.f, p); began == len(p) {
			return began, nil
		}
		p = p[began:]
	}
	type wrote struct {
		n   int
		err error
	}
	done := make(chan wrote, 1)
	own := append(e.own[:0], p...)
	e.own = nil
	go func() { // ends with the write, or the program: nothing stops one
		n, err := e.w.Write(own)
		done <- wrote{n, err}
	}()
	keep := func() {
		if cap(own) <= mostKept {
			e.own = own
		}
	}
	select {
	case r := <-done:
		keep()
		return began + r.n, r.err
	case <-end.ctx.Done():
	}
	t := time.NewTimer(end.grace)
	defer t.Stop()
	select {
	case r := <-done:
		keep()
		return began + r.n, r.err
	case <-t.C:
		return began, errStuck
	}
}

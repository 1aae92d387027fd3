package mcpserver

import (
	"io"
	"sync/atomic"
)

// watched is a reader that tells, at once, when there will be nothing more to read: calls may still be waiting for
// commands then, and nobody for them.
type watched struct {
	r     io.Reader
	ended func()
	done  atomic.Bool
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.r.Read(p)
	if err != nil && w.done.CompareAndSwap(false, true) {
		w.ended()
	}
	return n, err
}

// Close does nothing: standard input is not ours.
func (w *watched) Close() error { return nil }

func (w *watched) over() bool { return w.done.Load() }

package run

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"syscall"

	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
)

// gate lets output through until standard output takes no more. Then the run is over: it cancels what runs, and swallows
// the rest of both streams, so that commands end as canceled and not as failed.
type gate struct {
	ios    *iostreams.IOStreams
	cancel context.CancelCauseFunc

	shut atomic.Bool
}

// errClosedPipe is the cause when whoever read our output went away.
var errClosedPipe = errors.New("standard output was closed")

// errOutput wraps why standard output cannot be written.
type errOutput struct{ error }

func (e errOutput) Unwrap() error { return e.error }

func (g *gate) out() io.Writer { return writerFunc(g.writeOut) }

// err lets through what it can: nobody can be told that standard error is gone.
func (g *gate) err() io.Writer {
	return writerFunc(func(p []byte) (int, error) {
		if !g.shut.Load() {
			g.ios.Err.Write(p)
		}
		return len(p), nil
	})
}

func (g *gate) writeOut(p []byte) (int, error) {
	if _, err := g.ios.Out.Write(p); err != nil {
		if errors.Is(err, syscall.EPIPE) {
			err = errClosedPipe
		} else {
			err = errOutput{err}
		}
		g.shut.Store(true)
		g.cancel(err) // the first cause stays
	}
	return len(p), nil
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

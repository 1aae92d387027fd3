// Package outcome shows people and programs what became of commands: their output until nobody takes it any more, and in
// words how they failed.
package outcome

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"syscall"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/exitcode"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
)

// Gate lets output through until standard output takes no more. Then the run is over: it cancels what runs, and swallows
// the rest of both streams, so that commands end as canceled and not as failed.
type Gate struct {
	ios    *iostreams.IOStreams
	cancel context.CancelCauseFunc

	shut atomic.Bool
}

// ErrClosedPipe is the cause when whoever read our output went away.
var ErrClosedPipe = errors.New("standard output was closed")

// outputError wraps why standard output cannot be written.
type outputError struct{ error }

func (e outputError) Unwrap() error { return e.error }

// NewGate returns a Gate onto the streams of the program. cancel is called, with the cause, when it shuts.
func NewGate(ios *iostreams.IOStreams, cancel context.CancelCauseFunc) *Gate {
	return &Gate{ios: ios, cancel: cancel}
}

// Ended returns how a program ends whose context ended by a Gate; nil for any other cause.
func Ended(cause error) error {
	switch {
	case errors.Is(cause, ErrClosedPipe):
		return cmdutil.Exit(exitcode.ClosedPipe)
	case errors.As(cause, &outputError{}):
		return fmt.Errorf("cannot write to standard output: %w", cause)
	}
	return nil
}

// Out takes what goes to standard output. It never fails.
func (g *Gate) Out() io.Writer { return writerFunc(g.writeOut) }

// Err takes what goes to standard error. It lets through what it can: nobody can be told that standard error is gone.
func (g *Gate) Err() io.Writer {
	return writerFunc(func(p []byte) (int, error) {
		if !g.shut.Load() {
			g.ios.Err.Write(p)
		}
		return len(p), nil
	})
}

func (g *Gate) writeOut(p []byte) (int, error) {
	if _, err := g.ios.Out.Write(p); err != nil {
		if errors.Is(err, syscall.EPIPE) {
			err = ErrClosedPipe
		} else {
			err = outputError{err}
		}
		g.shut.Store(true)
		g.cancel(err) // the first cause stays
	}
	return len(p), nil
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

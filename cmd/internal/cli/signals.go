package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
)

// withSignals returns a context that the first ^C, TERM or HUP ends, with a *cmdutil.SignalError as its cause, and a channel
// that tells the second one. An interrupt that running catches ends a command alone. A signal that was ignored when the program
// started stays ignored. stop ends it all.
func withSignals(parent context.Context, running *cmdutil.Running) (ctx context.Context, abort <-chan *cmdutil.SignalError, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	second := make(chan *cmdutil.SignalError, 1)
	sigs := make(chan os.Signal, 2)
	for _, s := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(sigs, s)
		}
	}
	// Caught and dropped, so that a write to a closed pipe is an error and not a death without a record. Programs that are
	// started get the default back, which they would not if it were ignored.
	pipe := make(chan os.Signal, 1)
	signal.Notify(pipe, syscall.SIGPIPE)

	end := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		first := true
		for {
			select {
			case <-end:
				return
			case s := <-sigs:
				err := &cmdutil.SignalError{Signal: s, Number: int(s.(syscall.Signal))}
				caught, again := running.Interrupt(err)
				if caught && !again {
					continue
				}
				if first && !caught {
					first = false
					cancel(err)
					continue
				}
				select {
				case second <- err:
				default:
				}
			}
		}
	})
	return ctx, second, func() {
		signal.Stop(sigs)
		signal.Stop(pipe)
		close(end)
		wg.Wait()
		cancel(nil)
	}
}

// outputGrace is how long output may take that is written when the program was told to end.
const outputGrace = 2 * time.Second

// told returns a context that ends when TERM or HUP has ended ctx: whoever sends one sends no second one. A person who interrupts
// may still read what was printed, in a pager for instance, and can interrupt again.
func told(ctx context.Context) context.Context {
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() {
		if sig, ok := errors.AsType[*cmdutil.SignalError](context.Cause(ctx)); ok && sig.Signal != syscall.SIGINT {
			cancel()
		}
	})
	return own
}

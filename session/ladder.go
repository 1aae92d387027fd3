package session

import (
	"time"
)

// intr is what the terminal turns into SIGINT.
var intr = []byte{3}

// Stop stops the command step by step and returns when it has ended. The Result's status is canceled.
//
// The steps are: ^C, as from the keyboard; then a new shell. Each has the grace of the session's Config. A command that
// ignores ^C may go on running after its shell is gone; the Result says so.
func (x *Exec) Stop() { x.stop(StatusCanceled) }

// stop climbs the ladder once, for the first reason that comes.
func (x *Exec) stop(why Status) {
	x.stopped.Do(func() {
		x.mu.Lock()
		x.why = why
		x.mu.Unlock()
		sh := x.s.shellOf(x)
		if sh == nil {
			return // not sent yet: whoever is about to send looks at why first
		}
		if x.tried("INT") && x.s.cfg.Grace > 0 {
			// Another goroutine, because a stream that takes no more bytes must not hold the ladder.
			x.s.wg.Go(func() { sh.stream.Write(intr) })
			if x.endsWithin(x.s.cfg.Grace) {
				return
			}
		}
		x.tried("shell")
		sh.close()
	})
	<-x.done
}

// tried notes and tells a step.
func (x *Exec) tried(step string) bool {
	x.mu.Lock()
	x.step = step
	x.mu.Unlock()
	if f := x.s.cfg.Trace.LadderStep; f != nil {
		f(x.s.host, x.id, step)
	}
	return true
}

func (x *Exec) endsWithin(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-x.done:
		return true
	case <-t.C:
		return false
	}
}

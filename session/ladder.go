package session

import (
	"context"
	"time"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/session/become"
)

// intr is what the terminal turns into SIGINT.
var intr = []byte{3}

// Stop stops the command step by step and returns when it has ended. The Result's status is canceled.
//
// The steps are: SIGINT, as ^C sends it, then SIGTERM and SIGKILL to what the shell started, through a second program on its
// connection, or, where that has no room, on another one of its pool's; a new shell. Each has the grace of the session's Config, and StoppedBy names the one that
// worked: INT, TERM, KILL, shell. Only the last loses the shell's state, and only after it may something be left
// running; the Result says so (MayRun).
func (x *Exec) Stop() { x.stop(StatusCanceled) }

// stop climbs the ladder once, for the first reason that comes, and waits for the end.
func (x *Exec) stop(why Status) { x.stopFor(why, nil) }

// stopFor is stop with the error behind the reason; nil where there is none.
func (x *Exec) stopFor(why Status, cause error) {
	x.mu.Lock()
	first, sent, sh, abort, u := x.why == "" && !x.over, x.sent, x.sh, x.abort, x.unframed
	if first {
		x.why, x.cause = why, cause
	}
	x.mu.Unlock()
	switch {
	case first && sent && u != nil:
		u.climb()
	case first && sent:
		x.takeBack(errTypedOn)
		x.climb(sh)
	case first:
		abort(nil) // and whoever is about to send looks at why first
	}
	<-x.done
}

func (x *Exec) climb(sh *shell) {
	if grace := x.s.cfg.Grace; grace > 0 {
		x.tried("INT")
		heard, hit := false, false
		if !sh.deaf.Load() {
			heard, hit = x.interrupt(sh, grace)
		}
		if heard {
			if x.interruptAgain(sh, hit, grace) {
				return
			}
			before := x.printed()
			if x.signal(sh, "TERM", grace) || x.signal(sh, "KILL", grace) || x.printed() > before && x.drains(grace) {
				return
			}
		}
	}
	x.tried("shell")
	if grace := x.s.cfg.Grace; grace > 0 { // what ignores the hangup would go on
		x.signalAll(framing.Kill(sh.hello.PID), sh, grace)
	}
	sh.close()
}

// interrupt interrupts the command with all that it would still do. heard is false where only the shell's end does that:
// the command made the shell deaf to it. hit says that no program needs to be interrupted any more.
//
// Before the command has started there is nobody to hear it: the shell reads the frame. So it waits for that, as long as the
// grace. Then it asks the shell, through a second program, to end its command, and signals what that has started, or the shell if
// that is nothing. ^C is typed only where there is no second program to be had: it also hits what the shell has started since,
// and a command that traps SIGINT would go on behind that. An interactive program gets the key, for which it may have a use,
// once the shell knows that nothing is to run behind it.
func (x *Exec) interrupt(sh *shell, grace time.Duration) (heard, hit bool) {
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case <-x.begun:
	case <-x.done:
		return true, true
	case <-t.C:
	}
	// In a subshell ksh93 hears of the key alone, and of nothing when its program has ended by INT otherwise.
	traps, forgets := sh.traps.Load(), sh.hello.Dialect == framing.Ksh93
	switch {
	case forgets && traps: // the next step does it
		return true, true
	case !forgets && (traps || !x.cmd.Interactive): // a program that somebody sits at may have a use for the key
		line := framing.Interrupt(sh.hello.PID, sh.hello.Dialect)
		if traps { // it may have its own use for SIGINT in the shell
			line = framing.Signal(sh.hello.PID, "INT")
		}
		s := x.signalAll(line, sh, grace)
		switch {
		case s.Count > 0:
			return true, true
		case traps || s.Done:
			return s.Done && !s.Deaf, s.Done && traps
		}
	case x.cmd.Interactive && sh.hello.Dialect != framing.Bash: // which forgets over the key that it was to end its command
		switch s := x.signalAll(framing.Signal(sh.hello.PID, ""), sh, grace); {
		case s.Deaf:
			return false, false
		case s.Done && x.endsWithin(grace/10):
			return true, true
		}
	}
	x.typeIntr(sh)
	return true, x.cmd.Interactive
}

// typeIntr types ^C, in another goroutine, because a stream that takes no more bytes must not hold the ladder.
func (x *Exec) typeIntr(sh *shell) {
	x.during(func() { x.steps.Go(func() { sh.stream.Write(intr) }) })
}

// interruptAgain waits for the end of an interrupted command, and reports whether it came within the grace. A shell that was
// about to start a program when it was interrupted has one now that has heard nothing. For ksh93, which hears of the key alone,
// the key is typed again if there is such a program.
func (x *Exec) interruptAgain(sh *shell, hit bool, grace time.Duration) bool {
	end := time.Now().Add(grace)
	for _, pause := range []time.Duration{grace / 40, grace / 10} {
		if hit {
			break
		}
		if x.endsWithin(pause) {
			return true
		}
		if sh.hello.Dialect == framing.Ksh93 {
			if x.signalAll(framing.Unheard(sh.hello.PID), sh, time.Until(end)).Count > 0 {
				x.typeIntr(sh)
			}
			continue
		}
		hit = x.signalAll(framing.Signal(sh.hello.PID, "INT"), sh, time.Until(end)).Count > 0
	}
	return x.endsWithin(time.Until(end))
}

// during calls f, a step of the ladder, unless the command has ended. It does not end before f returns, so that f cannot
// hit the next command.
func (x *Exec) during(f func()) {
	x.mu.Lock()
	over := x.over
	if !over {
		x.steps.Add(1)
	}
	x.mu.Unlock()
	if !over {
		defer x.steps.Done()
		f()
	}
}

// reason returns why the command is to end; "" if nobody asked for that.
func (x *Exec) reason() Status {
	why, _ := x.reasons()
	return why
}

// reasons is reason with the error behind it.
func (x *Exec) reasons() (why Status, cause error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.why, x.cause
}

// startClocks starts what bounds the acceptance of a frame of that size, and the command itself.
func (x *Exec) startClocks(sh *shell, size int) {
	x.stopClocks() // of a shell that had ended
	if ready := x.s.cfg.Ready; ready > 0 {
		// A shell that does not take the frame is of no use, and what it did take will never run: a frame counts only whole.
		x.ready = time.AfterFunc(ready+time.Duration(size)*100*time.Microsecond, func() { x.during(func() { x.notReady(sh) }) })
	}
	x.startLimits()
}

// startLimits starts what bounds the command itself.
func (x *Exec) startLimits() {
	if x.cmd.Idle > 0 {
		x.idle = time.AfterFunc(x.cmd.Idle, func() {
			x.mu.Lock()
			x.silent = x.why == ""
			x.mu.Unlock()
			x.stop(StatusTimeout)
		})
	}
	if x.cmd.Timeout > 0 {
		x.due = time.Now().Add(x.cmd.Timeout)
		x.timer = time.AfterFunc(x.cmd.Timeout, func() { x.stop(StatusTimeout) })
	}
}

func (x *Exec) stopClocks() {
	if x.timer != nil {
		x.timer.Stop()
	}
	if x.ready != nil {
		x.ready.Stop()
	}
	if x.idle != nil {
		x.idle.Stop()
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.watch.stop()
}

func (x *Exec) notReady(sh *shell) {
	x.mu.Lock()
	started := x.started
	x.mu.Unlock()
	if !started {
		sh.stream.Close()
	}
}

// abandon says that the shell is about to be closed, so that the command's end is no surprise.
func (x *Exec) abandon() {
	x.mu.Lock()
	if x.why == "" {
		x.why, x.step = StatusCanceled, "shell"
	}
	abort, u := x.abort, x.unframed
	x.mu.Unlock()
	abort(nil)
	if u != nil { // no hangup ends it
		u.signal("KILL", signalTimeout)
		u.close()
	}
}

// tried notes and tells a step.
func (x *Exec) tried(step string) {
	x.setStep(step)
	if f := x.s.cfg.Trace.LadderStep; f != nil {
		f(x.caller(), x.s.host, x.id, step)
	}
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

// signalTimeout bounds the program that sends a signal: a busy host takes its time to start one.
const signalTimeout = 10 * time.Second

// signal sends a signal to what the shell has started and reports whether that ended the command. Where there is nothing
// to signal (a loop of builtins), or no second program to be had, the step is skipped.
func (x *Exec) signal(sh *shell, name string, grace time.Duration) bool {
	before := x.currentStep()
	x.tried(name)
	s := x.signalAll(framing.Signal(sh.hello.PID, name), sh, max(grace, signalTimeout))
	switch {
	case s.Count > 0 && x.endsWithin(grace):
		return true
	case s.Count == 0 && s.Done && !s.Deaf && name == "TERM" && x.endsWithin(grace/4): // a builtin that waits, as sleep in ksh93
		return true
	}
	select {
	case <-x.done: // of the step before, a little late
		return true
	default:
	}
	if s.Count == 0 { // nothing was signaled
		x.setStep(before)
	}
	return false
}

// signalAll runs a line of framing.Signal or framing.Kill for that shell. limit bounds it.
func (x *Exec) signalAll(line string, sh *shell, limit time.Duration) (s framing.Signaled) {
	ctx, cancel := context.WithTimeout(become.Unasked(x.caller()), limit)
	defer cancel()
	defer context.AfterFunc(x.s.closing, cancel)()
	x.during(func() { s = x.runSignal(ctx, line, sh) })
	return s
}

// runSignal waits on a full host for a place, but not longer than the grace, and in the first step, where the key can be typed
// instead, not at all.
func (x *Exec) runSignal(ctx context.Context, line string, sh *shell) framing.Signaled {
	place := x.wantOnce()
	if place.until = time.Now(); x.currentStep() != "INT" {
		place.until = place.until.Add(x.s.cfg.Grace)
	}
	return framing.ParseSignaled(x.s.runBeside(ctx, line, place), sh.hello.PID)
}

// drains waits for what programs had printed before they ended and a slow or crowded way still holds, while it comes.
func (x *Exec) drains(grace time.Duration) bool {
	for range maxDrain {
		before := x.printed()
		if x.endsWithin(grace) {
			return true
		}
		if x.printed() == before {
			break
		}
	}
	return false
}

// maxDrain bounds drains, in graces: what no signal ends may print for ever.
const maxDrain = 5

// printed is how many bytes have come.
func (x *Exec) printed() int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.out.Total() + x.err.Total()
}

func (x *Exec) setStep(step string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.step = step
}

func (x *Exec) currentStep() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.step
}

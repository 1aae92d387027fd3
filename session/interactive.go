package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
)

// Input types p at an interactive command: text, keys, or both. It passes the gate like a command: judged, recorded
// before a byte is sent. What was approved together with the command passes; else, where somebody has to approve it, Input
// waits for their answer, and takes the question back when ctx ends. Of a command that has just been started it waits for the
// begin. It reports ErrNotInteractive where nobody would read it, ErrDenied, ErrRejected, ErrExpired, and ErrBusy while something
// else waits to be typed.
func (x *Exec) Input(ctx context.Context, p []byte) error { return x.Type(ctx, p).wait(ctx) }

// InputSecret types p, which appears nowhere: not in the record, not before those who approve it, and the caller sees to it
// that it is not in what the host echoes.
func (x *Exec) InputSecret(ctx context.Context, p []byte) error {
	return x.typeIn(ctx, p, "«secret»").wait(ctx)
}

// typing reports whether the command has a terminal and runs.
func (x *Exec) typing() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.cmd.Interactive && x.started && !x.over
}

// awaitBegin waits for the shell to begin an interactive command that it has been sent: who starts one may type at once. The error
// is that of ctx.
func (x *Exec) awaitBegin(ctx context.Context) error {
	x.mu.Lock()
	coming := x.cmd.Interactive && x.sent && !x.started && !x.over
	x.mu.Unlock()
	if !coming {
		return nil
	}
	select {
	case <-x.begun:
	case <-x.done:
	case <-ctx.Done():
		return ctxerr.Of(ctx)
	}
	return nil
}

// Resize tells an interactive command that its terminal has another size.
func (x *Exec) Resize(size Size) error {
	if !size.fits() {
		return errSize
	}
	if !x.typing() {
		return ErrNotInteractive
	}
	r, ok := x.sh.stream.(Resizer)
	if !ok {
		return errors.ErrUnsupported
	}
	return r.Resize(size)
}

// Signal sends a signal to what the command has started: "INT" as from the keyboard, "TERM" or "KILL" through a second
// program on the connection. A program at a terminal may take INT as it likes. Otherwise the signal ends the whole command,
// with what it would still do. KILL ends every command, if need be with the session's shell. Signal does not wait for the
// effect. The error says when the signal could not be sent.
func (x *Exec) Signal(ctx context.Context, name string) error {
	x.mu.Lock()
	sh, u, running := x.sh, x.unframed, x.sent && !x.over
	x.mu.Unlock()
	switch {
	case !running:
		return errors.New("session: the command does not run")
	case u != nil && (name == "INT" || name == "TERM" || name == "KILL"):
		if !u.signal(name, signalTimeout) {
			return fmt.Errorf("session: %s needs a second program on the host, which it did not start", name)
		}
		return nil
	case name == "INT":
		x.takeBack(errTypedOn)
		if x.cmd.Interactive {
			var err error
			x.during(func() { _, err = sh.stream.Write(intr) })
			return err
		}
		heard, hit := false, false
		if !sh.deaf.Load() {
			heard, hit = x.interrupt(sh, x.s.cfg.Grace)
		}
		if heard && sh.traps.Load() { // one that ran no program just then has not heard it, and no step follows
			name := ""
			if sh.hello.Dialect == framing.Ksh93 {
				name = "TERM"
			}
			heard = !x.signalAll(framing.Signal(sh.hello.PID, name), sh, signalTimeout).Deaf
		}
		if !heard {
			return errDeaf
		}
		if !hit && sh.hello.Dialect != framing.Ksh93 { // which hears of the key
			x.signalLate(sh, name)
		}
		return nil
	case name != "TERM" && name != "KILL":
		return fmt.Errorf("session: no signal %q can be sent; there are INT, TERM and KILL", name)
	}
	x.takeBack(errTypedOn)
	s := framing.Signaled{Deaf: true}
	if !sh.deaf.Load() {
		x.during(func() { s = x.runSignal(ctx, framing.Signal(sh.hello.PID, name), sh) })
	}
	switch {
	case name == "KILL":
		x.kill(sh, s)
	case s.Deaf:
		return errDeaf
	case !s.Done:
		return fmt.Errorf("session: %s needs a second program on the connection, which the host did not start; send KILL", name)
	case s.Count == 0:
		x.signalLate(sh, name)
	}
	return nil
}

// signalLate sends a signal that found no program to one that the shell was about to start, and would wait for. The shell starts
// no other: it ends its command.
func (x *Exec) signalLate(sh *shell, name string) {
	x.s.wg.Go(func() {
		for _, pause := range []time.Duration{50 * time.Millisecond, 250 * time.Millisecond, time.Second} {
			if x.endsWithin(pause) || x.signalAll(framing.Signal(sh.hello.PID, name), sh, signalTimeout).Count > 0 {
				return
			}
		}
	})
}

var errDeaf = errors.New("session: the command traps every signal; send KILL, which ends it with the session's shell")

// kill replaces the shell where KILL to what it has started does not end the command: at once where that could not be sent.
func (x *Exec) kill(sh *shell, s framing.Signaled) {
	x.s.wg.Go(func() {
		if s.Done && !s.Deaf && x.endsWithin(max(x.s.cfg.Grace, 0)) {
			return
		}
		x.during(func() {
			x.mu.Lock()
			if x.why == "" {
				x.why = StatusCanceled
			}
			x.mu.Unlock()
			x.tried("shell")
		})
		x.signalAll(framing.Kill(sh.hello.PID), sh, signalTimeout)
		x.during(func() { x.steps.Go(func() { sh.stream.Close() }) })
	})
}

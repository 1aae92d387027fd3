package session

import (
	"context"
	"errors"
	"fmt"
)

// ErrNotInteractive means that a command takes no typing: it was not started with Command.Interactive, or it has ended.
var ErrNotInteractive = errors.New("session: the command takes no typing")

// Input types p at an interactive command: text, keys, or both. It passes the gate like a command: judged, recorded
// before a byte is sent. What was approved together with the command passes; else, where somebody has to approve it, Input
// waits for their answer, and takes the question back when ctx ends. It reports ErrNotInteractive where nobody would read it,
// ErrDenied, ErrRejected, ErrExpired, and ErrBusy while something else waits to be typed.
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

// Resize tells an interactive command that its terminal has another size.
func (x *Exec) Resize(size Size) error {
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
// program on the connection. It does not wait for an effect. The error says when it could not be sent.
func (x *Exec) Signal(ctx context.Context, name string) error {
	x.mu.Lock()
	sh, running := x.sh, x.sent && !x.over
	x.mu.Unlock()
	switch {
	case !running:
		return errors.New("session: the command does not run")
	case name == "INT":
		x.takeBack(errTypedOn)
		var err error
		x.during(func() { _, err = sh.stream.Write(intr) })
		return err
	case name != "TERM" && name != "KILL":
		return fmt.Errorf("session: no signal %q can be sent; there are INT, TERM and KILL", name)
	}
	x.takeBack(errTypedOn)
	n := 0
	x.during(func() { n = killDescendants(ctx, x.s.held(x.s.transport()), sh.hello.PID, name) })
	if n == 0 {
		return fmt.Errorf("session: %s reached no process: the command runs in the shell itself, or the host takes no second program", name)
	}
	return nil
}

package session

import (
	"context"
	"errors"
	"fmt"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// ErrNotInteractive means that a command takes no typing: it was not started with Command.Interactive, or it has ended.
var ErrNotInteractive = errors.New("session: the command takes no typing")

// Input types p at an interactive command: text, keys, or both. It passes the gate like a command: judged, recorded
// before a byte is sent. It reports ErrNotInteractive where nobody would read it, and ErrDenied.
func (x *Exec) Input(ctx context.Context, p []byte) error { return x.input(ctx, p, string(p)) }

// InputSecret types p, which appears nowhere: not in the record, and the caller sees to it that it is not in what the
// host echoes.
func (x *Exec) InputSecret(ctx context.Context, p []byte) error { return x.input(ctx, p, "«secret»") }

func (x *Exec) input(ctx context.Context, p []byte, shown string) error {
	if !x.typing() {
		return fmt.Errorf("%w: start it as an interactive one, and type while it runs", ErrNotInteractive)
	}
	s := x.s
	d, err := s.cfg.Policy.Decide(ctx, policy.Request{
		Principal: s.cfg.Principal, Host: s.host, Shell: s.shellName(), Command: x.cmd.Script, Dir: s.Dir(), Interactive: true, Input: shown,
	})
	if err != nil {
		return &Error{Op: "input", Host: s.host.Name, Code: "denied", Err: fmt.Errorf("%w: the policy could not decide: %w", ErrDenied, err)}
	}
	e := s.event(audit.CommandInput, x)
	e.Command, e.Exact = s.cfg.Redact(shown), []byte(shown)
	e.Verdict, e.Rule, e.Class = d.Verdict.String(), d.Rule, string(d.Class)
	if err := s.cfg.Audit.Record(context.WithoutCancel(ctx), e); err != nil {
		return &Error{Op: "input", Host: s.host.Name, Code: "audit", Err: fmt.Errorf("%w, so nothing was typed: %w", ErrAudit, err)}
	}
	if d.Verdict != policy.Allow {
		return &Error{Op: "input", Host: s.host.Name, Code: "denied", Err: fmt.Errorf("%w: %s", ErrDenied, d.Reason)}
	}
	err = ErrNotInteractive
	x.during(func() { // so that it cannot be typed at the shell
		if x.typing() {
			_, err = x.sh.stream.Write(p)
		}
	})
	return err
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
		var err error
		x.during(func() { _, err = sh.stream.Write(intr) })
		return err
	case name != "TERM" && name != "KILL":
		return fmt.Errorf("session: no signal %q can be sent; there are INT, TERM and KILL", name)
	}
	n := 0
	x.during(func() { n = killDescendants(ctx, x.s.held(x.s.transport()), sh.hello.PID, name) })
	if n == 0 {
		return fmt.Errorf("session: %s reached no process: the command runs in the shell itself, or the host takes no second program", name)
	}
	return nil
}

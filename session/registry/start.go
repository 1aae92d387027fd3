package registry

import (
	"context"
	"io"
	"time"

	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/internal/seam"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/redact"
)

// Command is what is run.
type Command struct {
	Script      string
	Reason      string        // why, for the record
	RequestID   string        // the same id with the same command gives the same Exec; "" means none
	Timeout     time.Duration // how long it may run; zero means no limit
	Idle        time.Duration // how long it may be silent; zero means no limit
	SlotWait    time.Duration // how long it may wait for a slot on a full host, see session.Command
	Merged      bool          // both streams as standard output
	Interactive bool          // on a terminal that takes input
	Size        session.Size  // of that terminal

	Program bool // Script is a program and its arguments, see session.Command
	Held    bool // see session.Command
	Unasked bool // likewise

	// Action, if not nil, is done instead of running Script. Its type must be comparable.
	Action seam.Action[session.Transport]

	// Wrapping, if not nil, says what is sent instead of Script. Its type must be comparable.
	Wrapping seam.Wrapping

	approver policy.Approver // see session.Command
	group    string          // likewise
	own      bool            // nobody has asked for it: it makes a session ready
	needed   bool            // without its success the session takes no more commands
}

// Shown is what people approve of a command.
func (c Command) Shown() string {
	if c.Action != nil {
		return c.Action.Text(nil)
	}
	if c.Wrapping == nil {
		return c.Script
	}
	return c.Wrapping.Text(c.Script)
}

// Start runs a command and returns once it was sent, or will never be: then the Exec's Result says why. ctx bounds what
// comes before sending. The error is for commands that never became one: the session is busy (with the exec that runs in
// the *session.Error), closed, or the request makes no sense.
func (e *Entry) Start(ctx context.Context, cmd Command) (*Exec, error) {
	return e.StartLive(ctx, cmd, Live{})
}

// Live takes what a command prints as it comes, without the secrets that its reader must not see: all of it, also what the
// Exec does not keep. A writer that blocks holds the command back. Its errors are not looked at. A command that was
// started before, by a request of the same id, writes nothing here.
type Live struct{ Stdout, Stderr io.Writer }

// StartLive is Start for a caller who takes the output as it comes.
func (e *Entry) StartLive(ctx context.Context, cmd Command, live Live) (*Exec, error) {
	if cmd.RequestID == "" {
		return e.startLive(ctx, cmd, live)
	}
	return e.r.once(ctx, e, cmd, func() (*Exec, error) { return e.startLive(ctx, cmd, live) })
}

func (e *Entry) start(ctx context.Context, cmd Command) (*Exec, error) {
	return e.startLive(ctx, cmd, Live{})
}

func (e *Entry) startLive(ctx context.Context, cmd Command, live Live) (*Exec, error) {
	defer e.starts()()
	r, host := e.r, e.Host().Name
	if redact.ContainsMark([]byte(cmd.Script)) {
		return nil, fault("run", host, CodeInvalid, false, "the command holds the mark of something redacted; the host would get the mark, not the secret")
	}
	if e.old() {
		return nil, &session.Error{Op: "run", Host: host, Code: CodeClosed, Err: errOld}
	}
	if !cmd.own {
		if err := e.moved(); err != nil {
			return nil, err
		}
	}
	if e.reserved(ctx, cmd) {
		return e.beside(ctx, cmd, live)
	}
	x := newExec(e, cmd, live)
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil, &session.Error{Op: "run", Host: host, Code: CodeClosed, Err: session.ErrClosed}
	}
	r.wg.Add(1) // for follow
	r.mu.Unlock()
	scmd := session.Command{
		Script: cmd.Script, Reason: cmd.Reason, Timeout: cmd.Timeout, Merged: cmd.Merged, Idle: cmd.Idle, SlotWait: cmd.SlotWait,
		Interactive: cmd.Interactive, Size: cmd.Size, Program: cmd.Program, Held: cmd.Held, Unasked: cmd.Unasked, Approver: cmd.approver, Group: cmd.group,
		Sending: func(text string) { r.cfg.Secrets.Owner(e.principal).LearnFromCommand(text) },
		Stdout:  x.stdout, Stderr: x.stderr, Keep: -1,
	}
	if cmd.Action != nil {
		action := cmd.Action
		if many, ok := action.(seam.PerHost[session.Transport]); ok {
			action = many.For(e.Host())
		}
		seam.Act(&scmd, action)
	}
	if cmd.Wrapping != nil {
		seam.Wrap(&scmd, cmd.Wrapping)
	}
	if cmd.own {
		seam.Own(&scmd)
	}
	if cmd.needed {
		seam.Need(&scmd)
	}
	sx, err := e.s.Start(ctx, scmd)
	if se := refused(err); se != nil {
		r.wg.Done()
		close(x.known)
		x.discard()
		return nil, se
	}
	x.sx = sx
	e.mu.Lock()
	e.used = time.Now()
	e.cur, e.last = x, x
	e.mu.Unlock()
	r.keep(x)
	close(x.known)
	e.tell()
	go x.follow()
	return x, nil
}

// refused tells an error after which there is nothing to look at.
func refused(err error) *session.Error {
	if err == nil {
		return nil
	}
	if se := asError("run", "", err); se.Code == "busy" || se.Code == CodeClosed {
		return se
	}
	return nil
}

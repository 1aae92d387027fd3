package shell

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/exitcode"
	"github.com/fairlead-ssh/fairlead/cmd/internal/question"
	"github.com/fairlead-ssh/fairlead/cmd/internal/terminals"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/become"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/registry"
	"github.com/fairlead-ssh/fairlead/session/screen"
	"github.com/fairlead-ssh/fairlead/session/sshconn"
)

func (o *Options) exitOf(r session.Result) error {
	if o.ExitCode != nil {
		return cmdutil.Exit(o.ExitCode(r))
	}
	return cmdutil.Exit(exitcode.Host(r))
}

// open records, and connects the host's shell with the terminal here.
func (o *Options) open(ctx context.Context, h hosts.Host, conn session.Transport, t *terminal, e *terminals.Entry, line string, d policy.Decision) error {
	winch, unwatch := watchSize()
	defer unwatch()
	p := session.Program{Line: line, Size: t.size(), Term: terminals.Term(o.Getenv("TERM")), Env: o.sent, Cooked: true}
	rec, how, err := o.record(h, t, e, p)
	if err != nil {
		return err
	}
	if err := e.Request(line, d, how); err != nil {
		rec.Drop()
		return err
	}
	var out terminals.Outcome
	var ask sshconn.Ask
	if o.Ask != nil {
		ask = o.Ask()
	}
	stream, err := start(ctx, registry.Elevate(conn, h, question.Become(ask)), t, p)
	if err == nil {
		b := &bridge{
			term: t, stream: stream, out: o.IO.Out, rec: rec, esc: escape{char: o.Escape}, typed: o.RecordInput,
			size: p.Size, winch: winch,
		}
		var exit session.Exit
		exit, out, err = b.run(ctx)
		out.Result = o.classify(ctx, h, exit, err)
	} else {
		out.Result = o.notStarted(ctx, h, err)
	}
	t.restore()
	return o.finish(ctx, h, e, out, how, rec.Close())
}

// start starts the shell and takes the terminal over, in this order: until there is a shell, ^C is for this program.
func start(ctx context.Context, conn session.Transport, t *terminal, p session.Program) (session.Stream, error) {
	stream, err := conn.Open(ctx, p)
	if err != nil {
		return nil, err
	}
	if err := t.raw(); err != nil {
		stream.Close()
		return nil, err
	}
	return stream, nil
}

// record starts the recording. Where that fails an operator gets the terminal all the same, and a warning.
func (o *Options) record(h hosts.Host, t *terminal, e *terminals.Entry, p session.Program) (rec *terminals.Recording, how string, err error) {
	if o.NoRecord {
		return nil, terminals.HowRecorded("", false, "--no-record"), nil
	}
	dir, err := o.Recordings()
	if err == nil {
		rec, err = terminals.StartRecording(dir, terminals.RecordingName(e.Start, h.Name, e.ID()), o.MaxBytes, p.Size,
			screen.CastHeader{Timestamp: e.Start.Unix(), Title: h.Name, Env: map[string]string{"TERM": p.Term}},
			func(err error) { o.notice(t, "the recording stops here: %s", terminals.Reason(err)) })
	}
	switch {
	case err == nil:
		return rec, terminals.HowRecorded(rec.Path(), o.RecordInput, ""), nil
	case !operator(o.Caller.Principal):
		return nil, "", fmt.Errorf("the terminal cannot be recorded, so nothing was sent: %w", err)
	}
	o.notice(t, "this terminal is not recorded: %s", cmdutil.Text(err))
	return nil, terminals.HowRecorded("", false, terminals.Reason(err)), nil
}

// notice prints a line between what the host prints.
func (o *Options) notice(t *terminal, format string, args ...any) {
	before, end := "", "\n"
	if t.isRaw() {
		before, end = "\r\n", "\r\n"
	}
	fmt.Fprintf(o.IO.Err, "%sfairlead: %s%s", before, cmdutil.OneLine(fmt.Sprintf(format, args...)), end)
}

// notStarted sorts out why there is no shell.
func (o *Options) notStarted(ctx context.Context, h hosts.Host, err error) session.Result {
	switch {
	case ctx.Err() != nil:
		return failed(h, session.StatusCanceled, "canceled", false, context.Cause(ctx))
	case isBecome(err):
		return failed(h, session.StatusAuth, "become", false, err)
	case errors.Is(err, session.ErrClosed), errors.Is(err, session.ErrFull):
		return failed(h, session.StatusUnreachable, "unreachable", false, err)
	}
	return failed(h, session.StatusError, "shell", false, err)
}

// isBecome reports whether err is why there is no shell as another account.
func isBecome(err error) bool {
	_, not := errors.AsType[*become.Error](err)
	return not
}

// classify says how a shell ended that had begun. err is what bridge.run returned.
func (o *Options) classify(ctx context.Context, h hosts.Host, exit session.Exit, err error) session.Result {
	switch {
	case ctx.Err() != nil:
		return failed(h, session.StatusCanceled, "canceled", true, context.Cause(ctx))
	case errors.Is(err, errHungUp), errors.Is(err, errGone), errors.Is(err, errNoOutput):
		return failed(h, session.StatusCanceled, "canceled", true, err)
	case err != nil:
		return failed(h, session.StatusLost, "lost", true, err)
	case exit.Signal != "":
		return session.Result{Status: session.StatusSignal, Signal: exit.Signal}
	case exit.Code != 0:
		return session.Result{Status: session.StatusExit, ExitCode: &exit.Code}
	}
	return session.Result{Status: session.StatusOK, ExitCode: &exit.Code}
}

func failed(h hosts.Host, s session.Status, code string, sent bool, err error) session.Result {
	return session.Result{Status: s, Err: &session.Error{Op: "shell", Host: h.Name, Code: code, Sent: sent, Err: err}}
}

// finish puts the end on record and tells what there is to tell.
func (o *Options) finish(ctx context.Context, h hosts.Host, e *terminals.Entry, out terminals.Outcome, how string, rec terminals.Recorded) error {
	auditErr := e.Result(out, how, rec)
	code := o.ended(ctx, h, out, rec.Path)
	if auditErr != nil {
		fmt.Fprintf(o.IO.Err, "fairlead: %s: the shell has ended (%s, %v), but that %s\n", h.Name, out.Status,
			time.Since(e.Start).Round(time.Second), cmdutil.OneLine(cmdutil.Text(fmt.Errorf("%w: %w", session.ErrAudit, auditErr))))
		if code == nil {
			code = cmdutil.Exit(exitcode.Internal)
		}
	}
	return code
}

// ended tells how a terminal ended, and where it is recorded, and returns what the program ends with.
func (o *Options) ended(ctx context.Context, h hosts.Host, out terminals.Outcome, recording string) error {
	code := o.exitOf(out.Result)
	switch out.Status {
	case session.StatusLost:
		fmt.Fprintln(o.IO.Err)
		code = o.fail(h, out.Result, lost(out.Err)+"; what ran there may go on")
	case session.StatusUnreachable, session.StatusError, session.StatusAuth:
		code = o.fail(h, out.Result, cmdutil.Why(out.Err))
	case session.StatusSignal:
		fmt.Fprintf(o.IO.Err, "\nfairlead: %s: the shell was killed by SIG%s\n", h.Name, out.Signal)
	case session.StatusCanceled:
		var sig *cmdutil.SignalError
		if errors.As(context.Cause(ctx), &sig) {
			code = sig
		}
		fmt.Fprintf(o.IO.Err, "\nfairlead: %s: %s\n", h.Name, cmdutil.OneLine(hungUp(out.Err.Err)))
	}
	if recording != "" {
		fmt.Fprintf(o.IO.Err, "fairlead: recorded in %s\n", recording)
	}
	return code
}

// lost says why a shell was lost, without what everybody sees.
func lost(err error) string {
	why := strings.ReplaceAll(cmdutil.Why(err), ": "+session.ErrClosed.Error(), "")
	return strings.TrimSuffix(why, "; the host did not say how the program ended")
}

// hungUp says who ended the shell from this side.
func hungUp(err error) string {
	var sig *cmdutil.SignalError
	if errors.As(err, &sig) && sig.Signal == syscall.SIGHUP {
		return "hung up: " + errGone.Error()
	}
	if errors.Is(err, errHungUp) {
		return "hung up"
	}
	return "hung up: " + cmdutil.Text(err)
}

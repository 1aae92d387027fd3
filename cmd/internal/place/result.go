package place

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// ResultOf is the Result of a command that ended in the keeper: its JSON is that of the keeper's own, and so is what people
// are told of it.
func ResultOf(end *wire.RunEnd) (session.Result, error) {
	w := end.Result
	ms := func(n int64) time.Duration { return time.Duration(n) * time.Millisecond }
	// An older keeper says milliseconds only.
	took, dial := max(ms(w.DurationMS), time.Duration(end.TookUS)*time.Microsecond), max(ms(w.DialMS), time.Duration(end.DialUS)*time.Microsecond)
	r := session.Result{
		Host: w.Host, Session: w.Session, Exec: w.Exec, Command: w.Command, State: session.State(w.State), Status: session.Status(w.Status),
		ExitCode: w.ExitCode, Signal: w.Signal, Dir: w.CWD, Duration: took, Queue: ms(w.QueueMS), Dial: dial,
		StdoutBytes: w.StdoutBytes, StderrBytes: w.StderrBytes, OmittedStdout: w.Omitted["stdout"], OmittedStderr: w.Omitted["stderr"],
		CutStdout: w.CutAt["stdout"], CutStderr: w.CutAt["stderr"], Redacted: w.Redacted,
		StderrMode: w.StderrMode, Lane: w.Lane, StoppedBy: w.StoppedBy, MayRun: w.MayRun,
		ShellRestarted: w.ShellRestarted, Reconnected: w.Reconnected, Restored: w.Restored,
		Decision: policy.Decision{
			Class: policy.Class(w.Decision.Class), Rule: w.Decision.Rule, Reason: w.Decision.Reason, Approval: w.Decision.Approval,
			Needs: policy.Needs(w.Decision.Needs), Hint: w.Decision.Hint,
			WithInput: w.Decision.WithInput, ForSession: w.Decision.ForSession,
		},
	}
	bad := func(err error) (session.Result, error) {
		return r, fmt.Errorf("client: the keeper's answer cannot be understood: %w", err)
	}
	var err error
	for _, stream := range []struct {
		to   *[]byte
		text string
	}{{&r.Stdout, w.Stdout}, {&r.Stderr, w.Stderr}, {&r.Stray, w.Stray}} {
		if *stream.to, err = wire.Decode(w.Encoding, stream.text); err != nil {
			return bad(err)
		}
	}
	if w.CWDBase64 != "" {
		dir, err := wire.Decode("base64", w.CWDBase64)
		if err != nil {
			return bad(err)
		}
		r.Dir = string(dir)
	}
	if w.Started != "" {
		if r.Started, err = time.Parse(time.RFC3339Nano, w.Started); err != nil {
			return bad(err)
		}
	}
	if err := r.Decision.Verdict.UnmarshalText([]byte(w.Decision.Verdict)); err != nil {
		return bad(err)
	}
	if w.Error != nil {
		r.Err = faultOf(end)
	}
	return r, nil
}

// faultOf is the error of a Result whose text is the one that came.
func faultOf(end *wire.RunEnd) *session.Error {
	w := end.Result
	e := &session.Error{Op: "run", Host: w.Host, Sent: end.Sent, Code: w.Error.Code, Retriable: w.Error.Retriable, Exec: w.Error.Exec}
	text, ok := strings.CutPrefix(w.Error.Message, e.Error()+": ")
	if !ok {
		e.Op, e.Host = "", ""
		if e.Op, text, ok = strings.Cut(w.Error.Message, ": "); !ok {
			e.Op, text = "run", w.Error.Message
		}
	}
	e.Err = &cmdutil.ToldError{Message: text, Reason: end.Why, ReasonAt: end.WhyAt}
	return e
}

// Because puts into a Result that was canceled why that was: the keeper hears only that it is to stop.
func Because(ctx context.Context, r session.Result) session.Result {
	var told *cmdutil.ToldError
	if r.Status != session.StatusCanceled || ctx.Err() == nil || r.Err == nil || !errors.As(r.Err, &told) {
		return r
	}
	cause, e := context.Cause(ctx).Error(), *r.Err
	named := func(text string) string {
		if rest, ok := strings.CutSuffix(text, context.Canceled.Error()); ok {
			return rest + cause
		}
		return text
	}
	e.Err = &cmdutil.ToldError{Message: named(told.Message), Reason: named(told.Reason), ReasonAt: named(told.ReasonAt)}
	r.Err = &e
	return r
}

// Refused makes a Result of an error of the keeper's, where that says how a command has ended; other errors are returned,
// mistakes of the caller's as usage errors. sent says whether a byte of the command may have left.
func Refused(err error, host, script string, sent bool) (session.Result, error) {
	r := session.Result{Host: host, Command: script, State: session.Done, Lane: "session"}
	fault := &session.Error{Op: "run", Host: host}
	var problem *wire.Problem
	switch {
	case errors.Is(err, client.ErrCutOff) && sent:
		r.Status, fault.Code, fault.Sent = session.StatusLost, "lost", true
		fault.Err = errors.New("the keeper went away, and how the command ended is not known")
	case errors.Is(err, client.ErrCutOff):
		r.Status, fault.Code, fault.Retriable = session.StatusError, "closed", true
		fault.Err = errors.New("the keeper went away before it came to this host")
	case !errors.As(err, &problem):
		return r, err
	default:
		fault.Code, fault.Retriable, fault.Exec, fault.Err = problem.Code, problem.Retriable, problem.Exec, errors.New(problem.Detail)
		switch s := session.Status(problem.Code); s {
		case session.StatusUnreachable, session.StatusAuth, session.StatusHostKey, session.StatusTimeout, session.StatusDenied, session.StatusCanceled:
			r.Status = s
		case "quota", "forbidden":
			r.Status = session.StatusDenied
		case "not_found", "closed", "invalid", "inventory", "gone":
			return r, &cmdutil.UsageError{Err: err}
		default:
			r.Status = session.StatusError
		}
	}
	r.Err = fault
	return r, nil
}

// NotStarted is what becomes of a host whose turn had not come when the request was canceled.
func NotStarted(host, script string) session.Result {
	return session.Result{
		Host: host, Command: script, State: session.Done, Status: session.StatusCanceled, Lane: "session",
		Err: &session.Error{Op: "run", Host: host, Code: "canceled", Retriable: true, Err: errors.New("not started")},
	}
}

// Elsewise reports whether a keeper has refused a request, before it sent anything, for a reason that is its own: the same
// may be done from here. What it refuses to whoever asks is refused here too.
func Elsewise(err error) bool {
	var problem *wire.Problem
	if !errors.As(err, &problem) {
		return false
	}
	switch problem.Code {
	case "stale", "not_found", "inventory", "full", "closed", "rate", "too_large":
		return true
	}
	return false
}

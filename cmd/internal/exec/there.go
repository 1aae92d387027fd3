package exec

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/consent"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// there runs the command in the keeper.
func (o *Options) there(ctx context.Context, p *place, judged *consent.Verdict, stdout, stderr io.Writer) (*ending, error) {
	in := wire.NewRun{Host: p.asked, CWD: o.CWD, Command: o.Script, Reason: o.Reason, Confirm: o.Yes || judged.Answered() != ""}
	if judged.Answered() == policy.NeedsBreakGlass {
		in.BreakGlass = p.host.Name
	}
	if o.Caller().Mark != "" {
		in.Confirm, in.BreakGlass = false, ""
	}
	if o.Timeout > 0 {
		s := o.Timeout.Seconds()
		in.TimeoutS = &s
	}
	if p.session != nil {
		id, err := p.session(ctx)
		if err != nil {
			return o.refused(p, err)
		}
		in.Host, in.Session = "", id
	}
	end, err := p.keeper.RunLive(ctx, in, client.Live{Stdout: stdout, Stderr: stderr, Waiting: func() {
		fmt.Fprintf(o.IO.Err, "fairlead: %s: waiting for an approval; see fairlead approvals\n", p.host.Name)
	}})
	if err != nil {
		return o.refused(p, err)
	}
	return &ending{resultOf(end), func() ([]byte, error) { return line(end.Result) }}, nil
}

// refused makes an end of an error, where it says how a command has ended; other errors are returned.
func (o *Options) refused(p *place, err error) (*ending, error) {
	r := session.Result{Host: p.host.Name, Command: o.Script, State: session.Done, Lane: "session"}
	fault := &session.Error{Op: "run", Host: p.host.Name}
	var problem *wire.Problem
	switch {
	case errors.Is(err, client.ErrCutOff):
		r.Status, fault.Code, fault.Sent = session.StatusLost, "lost", true
		fault.Err = errors.New("the keeper went away, and how the command ended is not known")
	case !errors.As(err, &problem):
		return nil, err
	default:
		fault.Code, fault.Retriable, fault.Exec, fault.Err = problem.Code, problem.Retriable, problem.Exec, errors.New(problem.Detail)
		switch s := session.Status(problem.Code); s {
		case session.StatusUnreachable, session.StatusAuth, session.StatusHostKey, session.StatusTimeout, session.StatusDenied, session.StatusCanceled:
			r.Status = s
		case "quota", "forbidden":
			r.Status = session.StatusDenied
		case "not_found", "closed", "invalid", "inventory", "gone":
			return nil, &cmdutil.UsageError{Err: err}
		default:
			r.Status = session.StatusError
		}
	}
	r.Err = fault
	return ended(r), nil
}

// resultOf is as much of a Result as its end needs that a keeper told.
func resultOf(end *wire.RunEnd) session.Result {
	w := end.Result
	r := session.Result{
		Host: w.Host, Session: w.Session, Exec: w.Exec, State: session.Done, Status: session.Status(w.Status), ExitCode: w.ExitCode,
		Signal: w.Signal, MayRun: w.MayRun, Decision: policy.Decision{Hint: w.Decision.Hint},
	}
	if w.Error != nil {
		r.Err = &session.Error{
			Op: "run", Host: w.Host, Sent: end.Sent, Code: w.Error.Code, Retriable: w.Error.Retriable, Exec: w.Error.Exec,
			Err: errors.New(end.Why),
		}
	}
	return r
}

// line is the result as run prints its own.
func line(r *wire.Result) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // shell source is full of < > &
	if err := enc.Encode(r); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}

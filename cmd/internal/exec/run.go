package exec

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/fairlead-ssh/fairlead/cmd/internal/censor"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/consent"
	"github.com/fairlead-ssh/fairlead/cmd/internal/exitcode"
	"github.com/fairlead-ssh/fairlead/cmd/internal/outcome"
	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/redact"
)

// run finds the place, judges, runs, and tells.
func run(ctx context.Context, o *Options) error {
	p, err := o.find(ctx)
	if err != nil {
		return err
	}
	defer p.close()
	judge := consent.Judge{
		IO: o.IO, Caller: o.Caller(), Policy: o.Policy, Terminal: o.Terminal, Yes: o.Yes, Reason: o.Reason, Words: o.Words, Approvable: p.keeper != nil, Tries: true,
	}
	judge.TellAgent()
	judged, err := judge.Decide(ctx, o.Script, []hosts.Host{p.host})
	if err != nil {
		return err
	}
	o.Reason = judged.Reason
	told := o.leftAlone()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer o.IO.Hush()()
	unwatch := context.AfterFunc(ctx, func() { io.WriteString(o.IO.Err, outcome.Stopping(context.Cause(ctx), p.host.Name)) })
	defer o.Running.Track(func() []string { return []string{p.host.Name} })()
	out, errOut := outputs(o, cancel)
	r, err := o.at(ctx, p, judged, out, errOut)
	unwatch()
	if err != nil {
		return err
	}
	if !told { // who writes to a pipe may have been later than the look at it
		o.leftAlone()
	}
	if p.session == nil && o.Words == nil && outcome.ShellEnded(r) {
		io.WriteString(o.IO.Err, outcome.EndedWith(o.Script))
	}
	return o.tell(ctx, p.host.Name, r)
}

// leftAlone tells that there is standard input which nobody reads, if there is.
func (o *Options) leftAlone() bool {
	waits := o.IO.InWaits()
	if waits {
		fmt.Fprintln(o.IO.Err, "fairlead: standard input is left alone: fairlead run HOST --stdin gives it to a command")
	}
	return waits
}

// outputs is where a command prints to: nowhere if its result is printed as a whole.
func outputs(o *Options, cancel context.CancelCauseFunc) (stdout, stderr io.Writer) {
	if o.JSON {
		return io.Discard, io.Discard
	}
	g := outcome.NewGate(o.IO, cancel)
	return g.Out(), g.Err()
}

// at runs the command where it belongs. What was refused goes nowhere, and is put on record from here.
func (o *Options) at(ctx context.Context, p *site, judged *consent.Verdict, stdout, stderr io.Writer) (session.Result, error) {
	if p.keeper == nil || judged.Refused() {
		return o.here(ctx, p, judged, stdout, stderr)
	}
	r, err := o.there(ctx, p, judged, stdout, stderr)
	if err == nil && p.session == nil && o.Place.Locked(r) {
		return o.here(ctx, p, judged, stdout, stderr)
	}
	return r, err
}

// here runs the command from this process.
func (o *Options) here(ctx context.Context, p *site, judged *consent.Verdict, stdout, stderr io.Writer) (r session.Result, err error) {
	secrets := redact.New(redact.Config{})
	secrets.LearnFromCommand(o.Script)
	pool, err := o.Pool(cmdutil.PoolOptions{Forks: 1, Policy: judged, Redact: secrets})
	if err != nil {
		return session.Result{}, err
	}
	cmd := session.Command{Script: o.Script, Program: o.Program, Timeout: o.Timeout}
	judged.Bound(&cmd)
	if o.Caller().Mark != "" { // agents see no secrets
		c := censor.New(secrets, redact.Guarded, stdout, stderr, cmd.Keep)
		stdout, stderr = c.Writers()
		defer func() { r = c.Result(r, c.Close()) }()
	}
	reason, _ := secrets.String(o.Reason, redact.Guarded)
	cmd.Reason, cmd.Stdout, cmd.Stderr = reason, stdout, stderr
	if o.CWD == "" || judged.Refused() {
		r, _ := pool.Run(ctx, p.host, cmd)
		return r, nil
	}
	dir, err := framing.Quote(o.CWD)
	if err != nil {
		return session.Result{}, cmdutil.Usagef("--cwd: %w", err)
	}
	s, err := pool.Open(p.host)
	if err != nil {
		return session.Result{}, err
	}
	defer s.Close()
	if r, _ := s.Run(ctx, session.Command{Script: "cd -- " + dir, Reason: reason, Stderr: stderr}); r.Status != session.StatusOK {
		return r, nil
	}
	r, _ = s.Run(ctx, cmd)
	return r, nil
}

// tell prints what is left to say, and returns what the program ends with.
func (o *Options) tell(ctx context.Context, host string, r session.Result) error {
	if o.JSON {
		line, err := r.MarshalJSON()
		if err != nil {
			return err
		}
		if _, err := o.IO.Out.Write(append(line, '\n')); err != nil {
			return nil // whoever ends the program says so
		}
	}
	cause := context.Cause(ctx)
	if err := outcome.Ended(cause); err != nil {
		return err
	}
	if !o.JSON {
		io.WriteString(o.IO.Err, outcome.Replaced(host, r))
	}
	io.WriteString(o.IO.Err, outcome.Tell(host, r))
	var sig *cmdutil.SignalError
	if r.Status == session.StatusCanceled && errors.As(cause, &sig) {
		return cmdutil.Exit(128 + sig.Number)
	}
	return cmdutil.Exit(exitcode.Host(r))
}

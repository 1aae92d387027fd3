package shell

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/config"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/place"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
)

// keeper is the one that opens the terminal, on a connection that it may have already; nil is to do so from here: where
// --policy judges, which a keeper would not know of, and for agents, to whom a keeper gives no terminals.
func (o *Options) keeper(ctx context.Context, h hosts.Host) (*client.Client, error) {
	if o.PolicyFile == "" && o.Caller.Mark == "" {
		return o.Place.For(ctx, []hosts.Host{h})
	}
	mode, err := o.Place.Mode()
	switch {
	case err != nil || mode != config.Require:
		return nil, err
	case o.PolicyFile != "":
		return nil, cmdutil.Usagef("--policy is judged by from here, and the keeper has a policy of its own: leave --policy or --keeper require out")
	}
	return nil, cmdutil.Usagef("a keeper opens no terminals for agents, and %s is set", o.Caller.Mark)
}

// there opens the terminal in the keeper. again means that nothing was opened, and that it may be opened from here.
func (o *Options) there(ctx context.Context, c *client.Client, h hosts.Host, t *terminal) (again bool, err error) {
	winch, unwatch := watchSize()
	defer unwatch()
	ask := client.TerminalAsk{
		Host: targets.Asked(h), Sum: wire.Sum(h), Size: t.size(), Term: o.Getenv("TERM"), Settings: t.settings(), Env: o.sent, ConnectTimeout: o.ConnectTimeout,
		Notice: func(line string) { o.notice(t, "%s", line) },
	}
	switch {
	case o.NoRecord:
		ask.Record = wire.RecordNothing
	case o.RecordInput:
		ask.Record = wire.RecordInput
	}
	stream, err := c.OpenTerminal(ctx, ask)
	if err != nil {
		return o.notOpened(ctx, h, err)
	}
	if err := t.raw(); err != nil {
		stream.Close()
		return false, err
	}
	b := &bridge{term: t, stream: stream, out: o.IO.Out, esc: escape{char: o.Escape}, size: ask.Size, winch: winch}
	exit, out, err := b.run(ctx)
	out.Result = o.classify(ctx, h, exit, err)
	t.restore()
	recording := stream.Recording()
	if dir, err := o.Recordings(); err == nil && recording != "" {
		recording = filepath.Join(dir, recording) // the keeper is this account's
	}
	return false, o.ended(ctx, h, out, recording)
}

// notOpened tells why the keeper has opened nothing.
func (o *Options) notOpened(ctx context.Context, h hosts.Host, err error) (again bool, _ error) {
	var problem *wire.Problem
	switch {
	case ctx.Err() != nil:
		return false, context.Cause(ctx)
	case o.Place.Auto() && (place.Elsewise(err) || isProblem(err, "recording")):
		fmt.Fprintf(o.IO.Err, "fairlead: going on without a keeper: %s\n", cmdutil.OneLine(cmdutil.Text(err)))
		return true, nil
	case !errors.As(err, &problem):
		return false, err
	}
	r := session.Result{Status: session.StatusError}
	switch s := session.Status(problem.Code); s {
	case session.StatusUnreachable, session.StatusAuth, session.StatusHostKey, session.StatusDenied:
		r.Status = s
	case "quota", "forbidden":
		r.Status = session.StatusDenied
	case "not_found", "invalid", "inventory":
		return false, &cmdutil.UsageError{Err: err}
	case "audit":
		return false, fmt.Errorf("%w: %w", session.ErrAudit, err)
	}
	if o.Place.Locked(r) {
		return true, nil // a person here may know the passphrase
	}
	return false, o.fail(h, r, cmp.Or(problem.Detail, cmdutil.Text(err)))
}

func isProblem(err error, code string) bool {
	var p *wire.Problem
	return errors.As(err, &p) && p.Code == code
}

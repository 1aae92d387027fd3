package place

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/redact"
)

// There runs commands in the keeper.
type There struct {
	Keeper  *client.Client
	Request wire.NewRun                           // but for what the hosts and the command say
	Answers func(in *wire.NewRun, names []string) // puts into a request what was said yes to; nil is nothing
	Files   func(hosts.Host) io.Writer            // takes what a download sends; nil where the request is none
	Waiting func([]hosts.Host)                    // is told that somebody has to approve the command; nil is nobody

	Steps *Steps // how it is rolled out; nil is all at once

	// back reports whether an error that came before anything was sent is to be returned as it is; nil is never.
	back func(error) bool
}

func (t *There) Run(ctx context.Context, hs []hosts.Host, cmd session.Command, done func(HostEnd)) error {
	in := t.Request
	in.ID, in.Reason, in.Keep, in.Held = cmd.Group, cmd.Reason, cmd.Keep, cmd.Held
	switch {
	case cmd.Program || in.Copy != nil: // the request names the program
	case cmd.Scripts != nil:
		for _, h := range hs {
			in.Commands = append(in.Commands, cmd.Scripts(h))
		}
	default:
		in.SetCommand(cmd.Script)
	}
	if t.Answers != nil {
		t.Answers(&in, targets.Labels(hs))
	}
	for _, h := range hs {
		in.Hosts, in.Sums = append(in.Hosts, targets.Asked(h)), append(in.Sums, wire.Sum(h))
	}
	if cmd.Timeout > 0 && in.Job == "" { // the keeper has one of its own for the start of a job
		s := cmd.Timeout.Seconds()
		in.TimeoutS = &s
	}
	if cmd.Idle > 0 {
		s := cmd.Idle.Seconds()
		in.IdleS = &s
	}
	if t.Steps != nil {
		in.Rollout = t.Steps.Request(hs)
	}
	var files func(int) io.Writer
	if t.Files != nil {
		files = func(i int) io.Writer { return t.Files(hs[i]) }
	}
	begun, ended := make([]bool, len(hs)), make([]bool, len(hs))
	again := t.Steps != nil && t.Steps.Rollout.Retry > 0 // a host may begin anew
	var steps client.Steps
	if t.Steps != nil {
		steps = t.Steps.there(ctx, hs)
	}
	end, err := t.Keeper.RunFleet(ctx, in, client.Fleet{
		Steps: steps,
		Begin: func(i int) (stdout, stderr io.Writer) {
			if i < 0 || i >= len(hs) || ended[i] || begun[i] && !again {
				return nil, nil // its result is refused
			}
			begun[i] = true
			if cmd.Streams == nil {
				return nil, nil
			}
			return cmd.Streams(hs[i])
		},
		Stdin: func(i int) io.Reader {
			if cmd.Stdins != nil {
				return cmd.Stdins(hs[i])
			}
			return cmd.Stdin
		},
		Files: files,
		Done: func(i int, w *wire.RunResult) error {
			if i < 0 || i >= len(hs) || ended[i] {
				return errors.New("the keeper reports a host that was not requested")
			}
			r, err := w.Result.Result()
			if err != nil {
				return fmt.Errorf("client: the keeper's answer cannot be understood: %w", err)
			}
			if r.Command == "" {
				r.Command = cmd.ScriptOn(hs[i])
			}
			ended[i] = true
			done(HostEnd{hs[i], Because(ctx, r), redact.Counts{Kinds: w.Taken}})
			return nil
		},
		Waiting: func() {
			if t.Waiting != nil {
				t.Waiting(hs)
			}
		},
	})
	switch {
	case err == nil:
		if t.Steps != nil && end.Rollout != nil {
			t.Steps.Ended(*end.Rollout)
		}
		return nil
	case t.back != nil && t.back(err):
		return err
	}
	for i, h := range hs {
		if ended[i] {
			continue
		}
		r := NotStarted(h.Name, cmd.ScriptOn(h))
		if ctx.Err() == nil || !errors.Is(err, context.Cause(ctx)) {
			var rerr error
			if r, rerr = Refused(err, h.Name, cmd.ScriptOn(h), begun[i]); rerr != nil {
				return rerr
			}
		}
		done(HostEnd{Host: h, Result: r})
	}
	return nil
}

// TellWaiting returns what tells people that somebody has to approve a command first.
func TellWaiting(to io.Writer) func([]hosts.Host) {
	return func(hs []hosts.Host) {
		fmt.Fprintf(to, "fairlead: %s: waiting for an approval; see fairlead approvals\n", hosts.Fold(targets.Labels(hs)))
	}
}

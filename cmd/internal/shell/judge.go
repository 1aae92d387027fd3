package shell

import (
	"context"
	"errors"
	"fmt"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/terminals"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// judge asks the policy about line, into which somebody will type what nobody can judge.
func (o *Options) judge(ctx context.Context, h hosts.Host, line string) (policy.Decision, error) {
	if o.Caller.Mark != "" {
		fmt.Fprintf(o.IO.Err, "fairlead: %s is set, so the policy of %s applies: a command that needs approval is denied\n", o.Caller.Mark, o.Caller.Principal)
	}
	decider, err := o.Policy()
	if err != nil {
		return policy.Decision{}, err
	}
	d, err := decider.Decide(ctx, policy.Request{Principal: o.Caller.Principal, Host: h, Command: line, Interactive: true})
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return policy.Decision{}, context.Cause(ctx)
	default:
		d = policy.Decision{Reason: "the policy could not decide: " + err.Error()}
	}
	return d, nil
}

// denied puts the refusal on record, and tells it.
func (o *Options) denied(h hosts.Host, e *terminals.Entry, line string, d policy.Decision) error {
	if err := e.Request(line, d, ""); err != nil {
		return err
	}
	why := d.Reason
	if d.Verdict == policy.Ask {
		why += "; it needs an approval, and approvals are not available here"
	}
	r := session.Result{Status: session.StatusDenied, Err: &session.Error{Op: "shell", Host: h.Name, Code: "denied", Err: errors.New(why)}}
	if err := e.Result(terminals.Outcome{Result: r}, "", terminals.Recorded{}); err != nil {
		return err
	}
	code := o.fail(h, r, why)
	if d.Hint != "" {
		fmt.Fprintf(o.IO.Err, "fairlead: hint: %s\n", cmdutil.OneLine(d.Hint))
	}
	return code
}

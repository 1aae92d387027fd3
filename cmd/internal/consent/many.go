package consent

import (
	"context"
	"errors"
	"fmt"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/config"
	"github.com/fairlead-ssh/fairlead/cmd/internal/exitcode"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// Many asks an operator before what is not a read goes to more hosts than confirm_hosts of config.yaml. What agents do is for the
// policy alone. what is a command, a job or a copy.
func (o *Judge) Many(ctx context.Context, settings func() (config.Config, error), what, script string, hs []hosts.Host) error {
	if o.Caller.Mark != "" || o.Yes || settings == nil {
		return nil
	}
	c, err := settings()
	if err != nil {
		return err
	}
	most := int(c.ConfirmHosts)
	if most == 0 || len(hs) <= most {
		return nil
	}
	engine, err := o.Policy(o.PolicyFile)
	if err != nil {
		return err
	}
	_, all, err := engine.JudgeMany(ctx, o.requests(&Verdict{script: script, scripts: o.Scripts}, hs))
	if err != nil {
		return context.Cause(ctx)
	}
	if isRead(all.Class) || all.Verdict == policy.Ask && all.Needs != policy.NeedsApproval {
		return nil // nothing is asked twice
	}
	question := fmt.Sprintf("fairlead: This %s is not a read, and it is for %d hosts (confirm_hosts is %d):\n  %s\nRun it on all of them? [y/N] ",
		what, len(hs), most, hosts.Fold(targets.Labels(hs)))
	yes, err := o.YesNo(ctx, question)
	switch {
	case errors.Is(err, ErrNoTerminal):
		fmt.Fprintf(o.IO.Err, "fairlead: the %s is not a read, and it is for %d hosts: confirm_hosts is %d, and there is no terminal to ask at: answer with --yes\n", what, len(hs), most)
	case err != nil:
		return err
	case yes:
		return nil
	default:
		fmt.Fprintf(o.IO.Err, "fairlead: not confirmed; nothing was sent\n")
	}
	return cmdutil.Exit(exitcode.Denied)
}

// requests are what the policy is asked about a request on hs.
func (o *Judge) requests(v *Verdict, hs []hosts.Host) []policy.Request {
	reqs := make([]policy.Request, len(hs))
	for i, h := range hs {
		reqs[i] = policy.Request{Principal: o.Caller.Principal, Host: h, Shell: h.Shell, Command: v.on(h), Reason: o.Reason, Elsewhere: o.Job || len(o.Words) > 0}
	}
	return reqs
}

func isRead(c policy.Class) bool {
	return c == policy.ReadOnly || c == policy.SensitiveRead || c == policy.NetworkRead
}

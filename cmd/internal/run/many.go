package run

import (
	"context"
	"errors"
	"fmt"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/consent"
	"github.com/fairlead-ssh/fairlead/cmd/internal/exitcode"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

// confirmMany asks an operator before a command that is not a read goes to more hosts than confirm_hosts of config.yaml.
// What agents do is for the policy alone.
func (o *Options) confirmMany(ctx context.Context, judge consent.Judge, hs []hosts.Host) error {
	if judge.Caller.Mark != "" || o.Yes || o.Settings == nil {
		return nil
	}
	c, err := o.Settings()
	if err != nil {
		return err
	}
	most := int(c.ConfirmHosts)
	if most == 0 || len(hs) <= most {
		return nil
	}
	engine, err := judge.Policy(o.PolicyFile)
	if err != nil {
		return err
	}
	_, all, err := engine.JudgeMany(ctx, o.requests(hs))
	if err != nil {
		return context.Cause(ctx)
	}
	if isRead(all.Class) || all.Verdict == policy.Ask && all.Needs != policy.NeedsApproval {
		return nil // nothing is asked twice
	}
	question := fmt.Sprintf("fairlead: This command is not a read, and it is for %d hosts (confirm_hosts is %d):\n  %s\nRun it on all of them? [y/N] ",
		len(hs), most, hosts.Fold(targets.Labels(hs)))
	yes, err := judge.YesNo(ctx, question)
	switch {
	case errors.Is(err, consent.ErrNoTerminal):
		fmt.Fprintf(o.IO.Err, "fairlead: the command is not a read, and it is for %d hosts: confirm_hosts is %d, and there is no terminal to ask at: answer with --yes\n", len(hs), most)
	case err != nil:
		return err
	case yes:
		return nil
	default:
		fmt.Fprintf(o.IO.Err, "fairlead: not confirmed; nothing was sent\n")
	}
	return cmdutil.Exit(exitcode.Denied)
}

// judgeAhead judges a run for an engine to remember, whatever comes of it: Decide asks the same again.
func (o *Options) judgeAhead(ctx context.Context, engine func() (*rules.Engine, error), hs []hosts.Host) {
	if e, err := engine(); err == nil {
		_, _, _ = e.JudgeMany(ctx, o.requests(hs))
	}
}

// requests are what the policy is asked about the command on hs.
func (o *Options) requests(hs []hosts.Host) []policy.Request {
	reqs := make([]policy.Request, len(hs))
	for i, h := range hs {
		reqs[i] = policy.Request{Principal: o.Caller().Principal, Host: h, Shell: h.Shell, Command: o.scriptOn(h), Reason: o.Reason, Elsewhere: len(o.Words) > 0}
	}
	return reqs
}

func isRead(c policy.Class) bool {
	return c == policy.ReadOnly || c == policy.SensitiveRead || c == policy.NetworkRead
}

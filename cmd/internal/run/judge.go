package run

import (
	"context"
	"fmt"
	"slices"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/redact"
)

// verdict is what was decided about the request as a whole, before a byte goes to any host. The sessions ask it, so that
// what is refused is on record for each host, and what was answered runs there and nowhere else.
type verdict struct {
	engine  *rules.Engine
	script  string
	refused *policy.Decision // on all hosts

	answered policy.Needs // what the caller has said yes to, for script alone; "" is nothing
	approval string       // how
}

// How an ask was answered, for the record.
const (
	byFlag       = "confirmation: --yes"
	byTerminal   = "confirmation: at the terminal"
	byBreakGlass = "break-glass: at the terminal"
)

// Decide decides about one host.
func (v *verdict) Decide(ctx context.Context, req policy.Request) (policy.Decision, error) {
	if v.refused != nil {
		return *v.refused, ctx.Err()
	}
	d, err := v.engine.Decide(ctx, req)
	if err != nil || v.answered == "" || req.Command != v.script || d.Verdict == policy.Deny {
		return d, err
	}
	if d.Verdict == policy.Allow || d.Needs == v.answered || d.Needs == policy.NeedsConfirmation {
		d.Verdict, d.Needs, d.Hint, d.Approval = policy.Allow, "", "", v.approval
	}
	return d, nil
}

// judge decides about the request as a whole, and asks where the caller can be asked. A refusal is no error: it goes the
// way of all commands, as far as the record.
func (o *Options) judge(ctx context.Context, hs []hosts.Host) (*verdict, error) {
	who := o.Caller()
	if who.Mark != "" {
		fmt.Fprintf(o.IO.Err, "fairlead: %s is set, so %s asks: what needs an approval is denied\n", who.Mark, who.Principal)
		if o.PolicyFile != "" {
			return nil, cmdutil.Usagef("--policy is not for agents, and %s is set", who.Mark)
		}
	}
	engine, err := o.Policy(o.PolicyFile)
	if err != nil {
		return nil, err
	}
	v := &verdict{engine: engine, script: o.Script}
	if redact.ContainsMark([]byte(o.Script)) {
		v.refused = &policy.Decision{
			Class: policy.Unknown, Rule: "builtin/redacted-mark", Reason: "the command holds a mark that stands for a secret",
			Hint: "write the secret itself",
		}
		return v, nil
	}
	reqs := make([]policy.Request, len(hs))
	for i, h := range hs {
		reqs[i] = policy.Request{Principal: who.Principal, Host: h, Shell: h.Shell, Command: o.Script, Reason: o.Reason}
	}
	each, all, err := engine.JudgeMany(ctx, reqs)
	if err != nil {
		return nil, context.Cause(ctx)
	}
	if all.Verdict == policy.Allow {
		return v, nil
	}
	q := newQuestion(o.Script, hs, each, all)
	switch {
	case all.Verdict == policy.Deny:
		v.refuse(q, "")
	case all.Needs == policy.NeedsConfirmation && o.Yes:
		v.answered, v.approval = policy.NeedsConfirmation, byFlag
	case all.Needs == policy.NeedsConfirmation:
		err = o.confirm(ctx, v, q)
	case all.Needs == policy.NeedsBreakGlass:
		err = o.breakGlass(ctx, v, q)
	default:
		v.refuse(q, "it needs an approval, which nobody can give here")
	}
	return v, err
}

// refuse makes the request one that is denied everywhere. more says what was missing.
func (v *verdict) refuse(q *question, more string) {
	d := q.all
	d.Verdict = policy.Deny
	d.Reason = q.why()
	if more != "" {
		d.Reason += "; " + more
	}
	v.refused = &d
}

// question is what is asked about a request.
type question struct {
	script string
	names  []string // of the hosts
	strict []string // of those because of which it is asked
	all    policy.Decision
}

func newQuestion(script string, hs []hosts.Host, each []policy.Decision, all policy.Decision) *question {
	q := &question{script: script, names: targets.Labels(hs), all: all}
	for i, d := range each {
		if d.Verdict == all.Verdict && d.Needs == all.Needs {
			q.strict = append(q.strict, q.names[i])
		}
	}
	return q
}

// why is the reason, with the hosts that it is about where it is not about all.
func (q *question) why() string {
	if len(q.strict) == 0 || len(q.strict) == len(q.names) {
		return q.all.Reason
	}
	return hosts.Fold(slices.Clone(q.strict)) + ": " + q.all.Reason
}

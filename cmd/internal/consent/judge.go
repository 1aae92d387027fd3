// Package consent asks an operator's second thought about a request, before a byte of it goes to any host: it judges the
// request as a whole, on all its hosts, and where the policy wants a confirmation, or the glass broken, it asks at the
// terminal. What was answered holds for exactly that text.
//
// There is no global state. A Judge serves one request.
package consent

import (
	"context"
	"fmt"
	"slices"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/targets"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/redact"
)

// Judge decides about one request. IO, Caller and Policy are required.
type Judge struct {
	IO       *iostreams.IOStreams
	Caller   cmdutil.Caller
	Policy   func(file string) (*rules.Engine, error)
	Terminal func() (cmdutil.Terminal, error) // nil means that nobody can be asked

	PolicyFile string // judged by instead of the user's own; "" is that
	Yes        bool   // confirms what the policy wants confirmed
	Reason     string // why it is asked for

	// Approvable says that somebody else can approve what the policy asks about: it is then neither refused nor answered.
	Approvable bool
}

// Verdict is what was decided about a request as a whole. Sessions ask it, so that what is refused is on record for each
// host, and what was answered runs there and nowhere else.
type Verdict struct {
	Reason string // why it was asked for, which breaking the glass may have added

	engine  *rules.Engine
	script  string
	refused *policy.Decision // on all hosts

	answered policy.Needs // what the caller has said yes to, for script alone; "" is nothing
	approval string       // how
}

// Refused reports whether it runs nowhere.
func (v *Verdict) Refused() bool { return v.refused != nil }

// Answered is what the caller has said yes to; "" where nothing was asked.
func (v *Verdict) Answered() policy.Needs { return v.answered }

// How an ask was answered, for the record.
const (
	byFlag       = "confirmation: --yes"
	byTerminal   = "confirmation: at the terminal"
	byBreakGlass = "break-glass: at the terminal"
)

// Decide decides about one host.
func (v *Verdict) Decide(ctx context.Context, req policy.Request) (policy.Decision, error) {
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

// Decide decides about script on hs, and asks where the caller can be asked. A refusal is no error: it goes the way of all
// commands, as far as the record. Mistakes in policy files are usage errors; the end of ctx is its cause.
func (o *Judge) Decide(ctx context.Context, script string, hs []hosts.Host) (*Verdict, error) {
	who := o.Caller
	if who.Mark != "" && o.PolicyFile != "" {
		return nil, cmdutil.Usagef("--policy is not for agents, and %s is set", who.Mark)
	}
	engine, err := o.Policy(o.PolicyFile)
	if err != nil {
		return nil, err
	}
	v := &Verdict{Reason: o.Reason, engine: engine, script: script}
	if redact.ContainsMark([]byte(script)) {
		v.refused = &policy.Decision{
			Class: policy.Unknown, Rule: "builtin/redacted-mark", Reason: "the command holds a mark that stands for a secret",
			Hint: "write the secret itself",
		}
		return v, nil
	}
	reqs := make([]policy.Request, len(hs))
	for i, h := range hs {
		reqs[i] = policy.Request{Principal: who.Principal, Host: h, Shell: h.Shell, Command: script, Reason: o.Reason}
	}
	each, all, err := engine.JudgeMany(ctx, reqs)
	if err != nil {
		return nil, context.Cause(ctx)
	}
	if all.Verdict == policy.Allow {
		return v, nil
	}
	q := newQuestion(script, hs, each, all)
	switch {
	case all.Verdict == policy.Deny:
		v.refuse(q, "")
	case all.Needs == policy.NeedsConfirmation && o.Yes:
		v.answered, v.approval = policy.NeedsConfirmation, byFlag
	case all.Needs == policy.NeedsConfirmation:
		err = o.confirm(ctx, v, q)
	case all.Needs == policy.NeedsBreakGlass:
		err = o.breakGlass(ctx, v, q)
	case o.Approvable:
	default:
		v.refuse(q, "it needs an approval, which nobody can give here")
	}
	return v, err
}

// refuse makes the request one that is denied everywhere. more says what was missing.
func (v *Verdict) refuse(q *question, more string) {
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

// TellAgent says, once for a request, that an agent asks and what that means.
func (o *Judge) TellAgent() {
	if who := o.Caller; who.Mark != "" {
		then := "is denied"
		if o.Approvable {
			then = "waits for one"
		}
		fmt.Fprintf(o.IO.Err, "fairlead: %s is set, so %s asks: what needs an approval %s\n", who.Mark, who.Principal, then)
	}
}

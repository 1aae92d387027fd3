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
)

// Judge decides about one request. IO, Caller and Policy are required.
type Judge struct {
	IO       *iostreams.IOStreams
	Caller   cmdutil.Caller
	Policy   func(file string) (*rules.Engine, error)
	Terminal func() (cmdutil.Terminal, error) // nil means that nobody can be asked

	// Words is what is run in structured mode: a program and its arguments, and the script is their quoted form. nil is shell
	// source.
	Words []string

	// Scripts, if not nil, is the script of each host, where they differ; the one of Decide is what they have in common.
	Scripts func(hosts.Host) string

	Job bool // it runs as a job, in no session's shell

	PolicyFile string // judged by instead of the user's own; "" is that
	Yes        bool   // confirms what the policy wants confirmed
	Reason     string // why it is asked for

	// Approvable says that somebody else can approve what the policy asks about: it is then neither refused nor answered.
	Approvable bool

	// Tries says that a session of this process gets it, which tries what the policy wants tried first and denies the rest.
	Tries bool

	// Partial lets the request run where it may, and refuses it where it may not. Else it runs on all hosts or on none.
	Partial bool

	// Remote says that all answers came with the request, and that nobody is asked: Yes, and Glass where the glass was
	// broken, for Reason.
	Remote, Glass bool
}

// Verdict is what was decided about a request as a whole. Sessions ask it, so that what is refused is on record for each
// host, and what was answered runs there and nowhere else.
type Verdict struct {
	Reason string // why it was asked for, which breaking the glass may have added

	engine    *rules.Engine
	principal string
	script    string
	scripts   func(hosts.Host) string          // nil where all hosts get script
	refused   *policy.Decision                 // on all hosts
	without   map[targets.Key]*policy.Decision // refused on these; see Judge.Partial
	left      int                              // how many hosts are not refused

	answered policy.Needs // what the caller has said yes to, for script alone; "" is nothing
	approval string       // how
	waits    *policy.Decision
}

// Refused reports whether it runs nowhere.
func (v *Verdict) Refused() bool { return v.refused != nil || v.left == 0 }

// Refusal is why it does not run on a host; nil where it may.
func (v *Verdict) Refusal(h hosts.Host) *policy.Decision {
	if v.refused != nil {
		return v.refused
	}
	return v.without[targets.KeyOf(h)]
}

// on is the script of a host.
func (v *Verdict) on(h hosts.Host) string {
	if v.scripts != nil {
		return v.scripts(h)
	}
	return v.script
}

// Answered is what the caller has said yes to; "" where nothing was asked.
func (v *Verdict) Answered() policy.Needs { return v.answered }

// AtTerminal reports whether that was at the terminal, and not with a flag.
func (v *Verdict) AtTerminal() bool { return v.approval == byTerminal || v.approval == byBreakGlass }

// Waits is what somebody else has to approve before it runs; nil is nothing. It needs Judge.Approvable.
func (v *Verdict) Waits() *policy.Decision { return v.waits }

// How an ask was answered, for the record.
const (
	byFlag       = "confirmation: --yes"
	byTerminal   = "confirmation: at the terminal"
	byBreakGlass = "break-glass: at the terminal"
)

// Decide decides about one host.
func (v *Verdict) Decide(ctx context.Context, req policy.Request) (policy.Decision, error) {
	if no := v.Refusal(req.Host); no != nil {
		return *no, ctx.Err()
	}
	d, err := v.engine.Decide(ctx, req)
	if err != nil || v.answered == "" || req.Command != v.on(req.Host) || d.Verdict == policy.Deny {
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
	v := &Verdict{Reason: o.Reason, engine: engine, principal: who.Principal, script: script, scripts: o.Scripts, left: len(hs)}
	if v.refused = Refused(engine, who.Principal, script, o.Words); v.refused != nil {
		return v, nil
	}
	for again := true; again; {
		if hs, again, err = o.round(ctx, v, hs); err != nil {
			return v, err
		}
	}
	return v, nil
}

// round judges the request on hs and asks what is to be asked. Where it is refused on some of them, and Partial, the others
// are left for another round.
func (o *Judge) round(ctx context.Context, v *Verdict, hs []hosts.Host) (left []hosts.Host, again bool, err error) {
	each, all, err := v.engine.JudgeMany(ctx, o.requests(v, hs))
	if err != nil {
		return nil, false, context.Cause(ctx)
	}
	if all.Verdict == policy.Allow {
		return nil, false, nil
	}
	q := newQuestion(Commands(hs, v.script, v.scripts), hs, each, all)
	no, err := o.settle(ctx, v, q)
	switch {
	case err != nil || no == nil:
		return nil, false, err
	case !o.Partial || len(q.strict) == 0 || len(q.strict) == len(hs) && len(v.without) == 0:
		v.refused = no.of(all, q.why())
		return nil, false, nil
	}
	if v.without == nil {
		v.without = map[targets.Key]*policy.Decision{}
	}
	for i, h := range hs {
		if !q.about(each[i]) {
			left = append(left, h)
			continue
		}
		v.without[targets.KeyOf(h)] = no.of(each[i], each[i].Reason)
		v.left--
	}
	return left, len(left) > 0, nil
}

// settle answers a question, or has it answered; else it says what is missing.
func (o *Judge) settle(ctx context.Context, v *Verdict, q *question) (*missing, error) {
	switch all := q.all; {
	case all.Verdict == policy.Deny:
		return &missing{}, nil
	case all.Needs == policy.NeedsConfirmation && o.Yes:
		v.answered, v.approval = policy.NeedsConfirmation, byFlag
	case all.Needs == policy.NeedsConfirmation && o.Remote:
		return &missing{what: "it needs a confirmation"}, nil
	case all.Needs == policy.NeedsConfirmation:
		return o.confirm(ctx, v, q)
	case all.Needs == policy.NeedsBreakGlass && o.Remote && o.Glass:
		v.answered = policy.NeedsBreakGlass
	case all.Needs == policy.NeedsBreakGlass && o.Remote:
		return &missing{what: "it is forbidden, and it was not overridden"}, nil
	case all.Needs == policy.NeedsBreakGlass:
		return o.breakGlass(ctx, v, q)
	case o.Approvable:
		v.waits = &all
	case o.Tries && q.tried:
	default:
		return &missing{what: "it needs an approval, and approvals are not available here"}, nil
	}
	return nil, nil
}

// missing is what a request was refused for.
type missing struct {
	what   string
	noHint bool // it would not have helped
}

// of makes of a decision one that denies, for a reason and for what is missing.
func (m *missing) of(d policy.Decision, reason string) *policy.Decision {
	d.Verdict, d.Reason = policy.Deny, reason
	if m.what != "" {
		d.Reason += "; " + m.what
	}
	if m.noHint {
		d.Hint = ""
	}
	return &d
}

// question is what is asked about a request.
type question struct {
	script string
	names  []string // of the hosts
	strict []string // of those because of which it is asked
	all    policy.Decision
	tried  bool // on each host it is allowed, or tried before somebody is asked
}

func newQuestion(script string, hs []hosts.Host, each []policy.Decision, all policy.Decision) *question {
	q := &question{script: script, names: targets.Labels(hs), all: all, tried: all.First != nil}
	for i, d := range each {
		q.tried = q.tried && (d.Verdict == policy.Allow || d.First != nil)
		if q.about(d) {
			q.strict = append(q.strict, q.names[i])
		}
	}
	return q
}

// about reports whether it is asked because of a host's decision.
func (q *question) about(d policy.Decision) bool {
	return d.Verdict == q.all.Verdict && d.Needs == q.all.Needs
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
			then = "waits for it"
		}
		fmt.Fprintf(o.IO.Err, "fairlead: %s is set, so the policy of %s applies: a command that needs approval %s\n", who.Mark, who.Principal, then)
	}
}

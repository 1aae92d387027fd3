package runs

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/livepolicy"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// approve has somebody else approve the command, once for all hosts, and returns where it is refused then. A single host's
// session asks by itself, with all that it knows.
func (x *fleet) approve(ctx context.Context, d policy.Decision, cmd *session.Command) livepolicy.Refusal {
	if len(x.hosts) == 1 {
		cmd.Approver = tellingApprover{x.rs.Approver, x.output}
		return x.whole.Refusal
	}
	return x.approveAll(ctx, d, cmd)
}

// approveAll is approve where the hosts' sessions do not ask by themselves.
func (x *fleet) approveAll(ctx context.Context, d policy.Decision, cmd *session.Command) livepolicy.Refusal {
	d.Verdict, d.Needs = policy.Ask, policy.NeedsApproval
	if x.inlets != nil && x.in.Copy == nil { // the hashes of what is copied are known
		return x.without(d, "what several hosts get as standard input cannot be approved: run it on one host at a time")
	}
	var asking []hosts.Host
	for _, h := range x.hosts {
		if x.whole.Refusal(h) == nil && h.NoLogin == "" {
			asking = append(asking, h)
		}
	}
	if len(asking) == 0 {
		return x.whole.Refusal // each says itself why nobody gets in
	}
	ways := map[string]string{}
	for _, h := range asking {
		ways[h.Name] = x.r.Conn.Way(h)
	}
	now := time.Now()
	group := approval.NewGroup(x.rs.Approver, policy.Question{
		Principal: x.c.Principal, Hosts: asking, Command: x.shown(asking, cmd), Reason: cmd.Reason, Decision: d,
		Asked: now, Expires: now.Add(session.DefaultApprovalTimeout),
	})
	group.Commands = x.approvedOn(cmd)
	cmd.Approver = group
	x.output.send("waiting", wire.RunWaits{})
	ctx, cancel := context.WithTimeoutCause(ctx, session.DefaultApprovalTimeout, session.ErrExpired)
	defer cancel()
	if err := group.Ask(ctx); err != nil {
		if errors.Is(context.Cause(ctx), session.ErrExpired) {
			err = session.ErrExpired
		}
		return x.rejected(d, err)
	}
	return x.changed(ways)
}

// without refuses it on all hosts.
func (x *fleet) without(d policy.Decision, why string) livepolicy.Refusal {
	d.Verdict, d.Reason = policy.Deny, d.Reason+"; "+why
	return func(h hosts.Host) *policy.Decision {
		if no := x.whole.Refusal(h); no != nil {
			return no
		}
		return &d
	}
}

// rejected refuses it on all hosts. Those where the policy asks have the answer itself put on record by their sessions.
func (x *fleet) rejected(d policy.Decision, err error) livepolicy.Refusal {
	all := x.without(d, err.Error())
	return func(h hosts.Host) *policy.Decision {
		own, derr := x.engine.Decide(context.Background(), policy.Request{
			Principal: x.c.Principal, Host: h, Shell: h.Shell, Command: x.cmd.ScriptOn(h), Reason: x.cmd.Reason,
		})
		if derr == nil && own.Verdict == policy.Ask && x.whole.Refusal(h) == nil {
			return nil
		}
		return all(h)
	}
}

// changed refuses it on hosts that are not any more what was approved, or that are reached in another way.
func (x *fleet) changed(ways map[string]string) livepolicy.Refusal {
	in := *x.in
	in.Sums = nil
	now := fleet{r: x.r, in: &in}
	same := map[string]bool{}
	if now.resolve() == nil {
		for _, h := range now.hosts {
			same[wire.Sum(h)] = true
		}
	}
	return func(h hosts.Host) *policy.Decision {
		switch no := x.whole.Refusal(h); {
		case no != nil:
			return no
		case same[wire.Sum(h)]:
			if way, asked := ways[h.Name]; !asked || way == x.r.Conn.Way(h) {
				return nil
			}
		}
		return &policy.Decision{Rule: "keeper/changed", Reason: "it is not the host any more that was approved"}
	}
}

// aloneApprover answers where a host asks by itself, once the others run: one that cannot hold reads. Nothing waits for that.
type aloneApprover struct{}

func (aloneApprover) Approve(_ context.Context, q policy.Question) (policy.Answer, error) {
	return policy.Answer{}, fmt.Errorf("%s; to request approval, run it on %s alone", q.Decision.Reason, q.Host.Name)
}

// tellingApprover tells the caller that somebody is asked.
type tellingApprover struct {
	policy.Approver
	output *runOutput
}

func (a tellingApprover) Approve(ctx context.Context, q policy.Question) (policy.Answer, error) {
	a.output.send("waiting", wire.RunWaits{Exec: q.Exec})
	return a.Approver.Approve(ctx, q)
}

package session

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// The gate: every command passes judge and recordRequest, in this order, before a byte is sent, and recordResult after.
// There is no other way to a shell.

// judge asks the policy. It fails x where the answer is no, or an ask that nobody can answer.
func (s *Session) judge(ctx context.Context, x *Exec) policy.Verdict {
	d, err := s.cfg.Policy.Decide(ctx, s.request(x))
	if err != nil && ctx.Err() != nil {
		s.failStart(ctx, x, err)
		return policy.Deny
	}
	if err != nil {
		d = policy.Decision{Reason: "the policy could not decide: " + err.Error()}
	}
	d.Clean = d.Clean || x.cmd.Program
	d = s.here(x, s.hold(ctx, x, d))
	x.res.Decision = d
	if d.Send != "" {
		x.cmd.Script, x.res.Command = d.Send, d.Send
	}
	if f := s.cfg.Trace.Judged; f != nil {
		f(ctx, s.host, x.id, d)
	}
	if d.Verdict == policy.Ask && s.host.NoLogin != "" { // nobody's time is taken for what cannot be
		if s.recordRequest(ctx, x) {
			x.fail(StatusAuth, "auth", &NoLoginError{s.host.NoLogin})
		}
		return policy.Deny
	}
	if d.Verdict == policy.Ask && s.forSession(ctx, x) {
		return policy.Allow
	}
	if s.tries(x) {
		var done bool
		if d, done = s.tryFirst(ctx, x); done {
			return policy.Deny
		}
	}
	if d.Verdict == policy.Allow || d.Verdict == policy.Ask && s.approver(x) != nil {
		return d.Verdict
	}
	reason := d.Reason
	if d.Verdict == policy.Ask {
		reason = strings.TrimSpace(reason + x.cmd.nobody())
	}
	if s.recordRequest(ctx, x) {
		x.fail(StatusDenied, "denied", fmt.Errorf("%w: %s", ErrDenied, cmp.Or(reason, "the policy gives no reason")))
	}
	return policy.Deny
}

// request is what the policy is asked about x.
func (s *Session) request(x *Exec) policy.Request {
	set := s.names()
	if x.cmd.inner.action != nil || x.cmd.Program {
		set = nil // no shell of the session sees it, or none that a command has shaped
	}
	return policy.Request{
		Principal: s.cfg.Principal, Host: s.host, Shell: s.shellName(), Command: x.cmd.Script, Dir: s.Dir(), Reason: x.cmd.Reason, Interactive: x.cmd.Interactive, Set: set,
		Elsewhere: x.cmd.Program || x.cmd.inner.wrapping != nil, Action: x.cmd.inner.action != nil,
	}
}

// since returns the denial of what was just approved where the policy has come to deny it, or to take a stronger proof, since it
// was asked about as asked says; ok is true where there is none.
func (s *Session) since(ctx context.Context, req policy.Request, asked policy.Decision, a policy.Answer) (d policy.Decision, ok bool) {
	d, err := s.cfg.Policy.Decide(ctx, req)
	switch {
	case err != nil:
		d = policy.Decision{Class: asked.Class, Reason: "the policy could not decide: " + err.Error()}
	case d.Verdict == policy.Ask && d.LeastProof != asked.LeastProof && !a.Proof.AtLeast(d.LeastProof):
		d.Verdict, d.Reason = policy.Deny, d.Reason+" (the policy has come to require the proof "+string(d.LeastProof)+": request it again)"
	case d.Verdict != policy.Deny:
		return d, true
	}
	d.Verdict = policy.Deny
	return d, false
}

// Verdict is what the policy would say about a script here and now; nothing is run or recorded. action says that it stands for
// work on files. Where the policy cannot decide, it is Deny.
func (s *Session) Verdict(ctx context.Context, script string, action bool) policy.Verdict {
	return s.decide(ctx, script, action).Verdict
}

// ReadsAlone reports whether the policy allows a command for what it means alone, as one that only reads: then it means the
// same in a clean shell in the session's directory.
func (s *Session) ReadsAlone(ctx context.Context, script string, action bool) bool {
	d := s.decide(ctx, script, action)
	return d.Verdict == policy.Allow && d.Class == policy.ReadOnly && (d.Clean || action) && d.Send == ""
}

func (s *Session) decide(ctx context.Context, script string, action bool) policy.Decision {
	req := policy.Request{Principal: s.cfg.Principal, Host: s.host, Shell: s.shellName(), Command: script, Dir: s.Dir(), Action: action}
	if !action {
		req.Set = s.names()
	}
	d, err := s.cfg.Policy.Decide(ctx, req)
	if err != nil {
		return policy.Decision{}
	}
	return d
}

// recordRequest puts the request on record. If that fails, so does x: nothing unrecorded is ever sent.
func (s *Session) recordRequest(ctx context.Context, x *Exec) bool {
	e := s.event(x.kind(audit.CommandRequest), x)
	d := &x.res.Decision
	e.Command, e.Exact = x.shown(s.cfg.Redact), []byte(x.shown(nil))
	e.Verdict, e.Rule, e.Class, e.Policy, e.Reason = d.Verdict.String(), d.Rule, string(d.Class), d.Policy, x.cmd.Reason
	e.Approval, e.ApprovedBy, e.ApprovalProof, e.ApprovalDigest = d.Approval, x.answer.By, string(x.answer.Proof), x.answer.Digest
	e.WithInput, e.ForSession = d.WithInput, d.ForSession
	e.CWD, e.Held = s.Dir(), x.res.heldWord()
	e.ReadOnly = d.Class == policy.ReadOnly && (x.cmd.inner.wrapping == nil || !x.cmd.inner.wrapping.Changes()) || d.Verdict != policy.Allow
	ctx = context.WithoutCancel(ctx)
	if err := s.cfg.Audit.Record(ctx, e); err != nil {
		x.fail(StatusError, "audit", fmt.Errorf("%w, so nothing was sent: %w", ErrAudit, err))
		return false
	}
	x.mu.Lock()
	x.recorded, x.asked = true, ctx
	x.mu.Unlock()
	return true
}

// recordResult puts the result on record. A result that cannot be written is told in the Result, and the request stays
// without one, which is what the record then says: outcome not known here.
func (s *Session) recordResult(x *Exec, r *Result) {
	e := s.event(x.kind(audit.CommandResult), x)
	e.ReadOnly = r.Decision.Class == policy.ReadOnly
	e.State, e.Status = string(r.State), string(r.Status)
	e.ExitCode, e.Signal, e.StoppedBy, e.CWD = r.ExitCode, r.Signal, r.StoppedBy, r.Dir
	e.Held, e.Refused = r.heldWord(), r.refusedWords(s.cfg.Redact)
	e.DurationMS = r.Duration.Milliseconds()
	s.outputs(&e, x, r)
	e.StdinBytes, e.StdinSHA256 = r.StdinBytes, r.StdinSHA256
	if r.Err != nil {
		e.Error = audit.Fault{Code: r.Err.Code, Message: r.Err.Error()}
	}
	if x.cmd.inner.action != nil {
		x.cmd.inner.action.Record(&e)
	}
	x.mu.Lock()
	ctx := x.asked
	x.asked = nil // it may hold much
	x.mu.Unlock()
	if err := s.cfg.Audit.Record(ctx, e); err != nil && r.Err == nil {
		r.Status = StatusError
		r.Err = x.error("audit", false, unrecorded(r, err))
	}
}

// unrecordedError says how a command ended whose result is not in the audit log. It wraps ErrAudit and the cause.
type unrecordedError struct {
	how string
	err error
}

func unrecorded(r *Result, err error) error {
	how := ""
	switch {
	case r.Signal != "":
		how = " (SIG" + r.Signal + ")"
	case r.ExitCode != nil:
		how = fmt.Sprintf(" (exit code %d)", *r.ExitCode)
	}
	return &unrecordedError{how, err}
}

func (e *unrecordedError) Error() string {
	return "the command ended" + e.how + ", and its result is missing from the audit log: " + e.err.Error()
}

func (e *unrecordedError) Unwrap() []error { return []error{ErrAudit, e.err} }

// event fills in who and how.
func (s *Session) event(kind audit.Kind, x *Exec) audit.Event {
	e := audit.Event{Kind: kind, ID: x.id, Group: x.cmd.Group, Principal: s.cfg.Principal, Host: s.host.Name, Tier: s.host.Tier, Session: s.id, SSHOptions: s.host.ShownOptions(), Become: s.host.Become.String()}
	if t := s.transport(); t != nil {
		p := t.Peer()
		p.tell(&e)
		if len(p.Via) > 0 {
			e.Route = strings.Join(p.Via, ",")
		}
	}
	return e
}

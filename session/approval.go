package session

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// DefaultApprovalTimeout is how long a command waits for somebody's yes.
const DefaultApprovalTimeout = 15 * time.Minute

// Why a command that asked was not run.
var (
	ErrRejected = errors.New("session: the approval was refused")
	ErrExpired  = errors.New("session: nobody approved it in time")
)

// await waits until somebody has decided about x, and fails it unless that is a yes. The session is held meanwhile:
// what was asked about is what will run, in the state in which it was asked about. No clock of the command runs.
func (s *Session) await(ctx context.Context, x *Exec) bool {
	x.mu.Lock()
	x.res.State = AwaitingApproval
	d := x.res.Decision
	x.mu.Unlock()
	e := s.event(audit.ApprovalRequest, x)
	e.Command, e.Exact, e.CWD = s.cfg.Redact(x.cmd.Script), []byte(x.cmd.Script), s.Dir()
	e.Verdict, e.Rule, e.Class, e.Reason = d.Verdict.String(), d.Rule, string(d.Class), x.cmd.Reason
	if err := s.cfg.Audit.Record(context.WithoutCancel(ctx), e); err != nil {
		x.fail(StatusError, "audit", fmt.Errorf("%w, so nobody was asked: %w", ErrAudit, err))
		return false
	}
	if s.cfg.ApprovalTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, s.cfg.ApprovalTimeout, ErrExpired)
		defer cancel()
	}
	began := time.Now()
	a, err := s.cfg.Approver.Approve(ctx, policy.Question{
		Exec: x.id, Session: s.id, Principal: s.cfg.Principal, Host: s.host, Shell: s.shellName(), Command: x.cmd.Script,
		Dir: s.Dir(), Reason: x.cmd.Reason, Interactive: x.cmd.Interactive, Decision: d, Asked: began, Expires: expiry(began, s.cfg.ApprovalTimeout),
	})
	if err == nil && a.Approved && ctx.Err() == nil {
		d.Verdict, d.Approval, d.Needs, d.Hint = policy.Allow, a.ID, "", ""
		x.mu.Lock()
		x.res.Decision, x.res.State = d, Running
		x.approvedBy, x.proof = a.By, a.Proof
		x.mu.Unlock()
		s.tellAnswer(ctx, x, a, "approved")
		return true
	}
	status, code, outcome := StatusDenied, "rejected", "rejected"
	switch {
	case errors.Is(context.Cause(ctx), ErrExpired) || errors.Is(err, ErrExpired):
		status, code, outcome, err = StatusExpired, "expired", "expired", ErrExpired
	case ctx.Err() != nil:
		s.tellAnswer(ctx, x, a, "canceled")
		s.failStart(ctx, x, context.Cause(ctx))
		return false
	case err != nil:
		code, err = "denied", fmt.Errorf("%w: %w", ErrDenied, err)
	case a.Reason != "":
		err = fmt.Errorf("%w by %s: %s", ErrRejected, a.By, a.Reason)
	default:
		err = fmt.Errorf("%w by %s", ErrRejected, a.By)
	}
	s.tellAnswer(ctx, x, a, outcome)
	x.fail(status, code, err)
	return false
}

// expiry is when waiting ends; zero if it does not.
func expiry(began time.Time, limit time.Duration) time.Time {
	if limit <= 0 {
		return time.Time{}
	}
	return began.Add(limit)
}

// tellAnswer puts an answer on record. A yes that cannot be recorded stops at the request's own record.
func (s *Session) tellAnswer(ctx context.Context, x *Exec, a policy.Answer, outcome string) {
	e := s.event(audit.ApprovalResult, x)
	e.Status, e.Approval, e.ApprovedBy, e.ApprovalProof, e.Reason = outcome, a.ID, a.By, a.Proof, a.Reason
	_ = s.cfg.Audit.Record(context.WithoutCancel(ctx), e)
}

package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// await waits until somebody has decided about x, and fails it unless that is a yes. The session is held meanwhile:
// what was asked about is what will run, in the state in which it was asked about. No clock of the command runs.
// over is called once there is an answer, or none will come.
func (s *Session) await(ctx context.Context, x *Exec, over func()) bool {
	d, whole := x.res.Decision, ctx
	began := time.Now()
	if s.cfg.ApprovalTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, s.cfg.ApprovalTimeout, ErrExpired)
		defer cancel()
	}
	if err := s.bind(ctx, x); err != nil {
		switch {
		case errors.Is(err, ErrExpired):
			x.fail(StatusExpired, "expired", fmt.Errorf("%w: its standard input has not come to its end", err))
		case ctx.Err() != nil:
			s.failStart(ctx, x, err)
		default:
			x.fail(StatusError, "stdin", fmt.Errorf("no approval was requested: %w", err))
		}
		return false
	}
	e := s.event(audit.ApprovalRequest, x)
	e.Command, e.Exact, e.CWD = x.shown(s.cfg.Redact), []byte(x.shown(nil)), s.Dir()
	e.Verdict, e.Rule, e.Class, e.Policy, e.Reason = d.Verdict.String(), d.Rule, string(d.Class), d.Policy, x.cmd.Reason
	q := s.question(x)
	q.Asked, q.Expires = began, expiry(began, s.cfg.ApprovalTimeout)
	if in := x.bond.input; in != nil {
		q.StdinBytes, q.StdinSHA256, q.StdinHead = in.bytes, in.sum, in.head
	}
	e.StdinBytes, e.StdinSHA256 = q.StdinBytes, q.StdinSHA256
	if err := s.cfg.Audit.Record(context.WithoutCancel(ctx), e); err != nil {
		x.fail(StatusError, "audit", fmt.Errorf("%w, so no approval was requested: %w", ErrAudit, err))
		return false
	}
	a, err := s.approver(x).Approve(ctx, q)
	over()
	if err == nil && a.Approved && ctx.Err() == nil {
		if now, ok := s.since(whole, s.request(x), d, a); !ok && whole.Err() == nil {
			x.mu.Lock()
			x.res.Decision = now
			x.mu.Unlock()
			s.tellAnswer(ctx, x, a, "approved")
			if s.recordRequest(ctx, x) {
				x.fail(StatusDenied, "denied", fmt.Errorf("%w since approval was requested: %s", ErrDenied, now.Reason))
			}
			return false
		}
		d.Verdict, d.Approval, d.Needs, d.Hint = policy.Allow, a.ID, "", ""
		d.ApprovedBy, d.Proof, d.WithInput = a.By, a.Proof, a.WithInput && x.cmd.Interactive
		d.ForSession = a.ForSession
		x.mu.Lock()
		x.res.Decision, x.res.State = d, Running
		x.answer = a
		x.mu.Unlock()
		s.tellAnswer(ctx, x, a, "approved")
		return true
	}
	status, code, outcome := StatusDenied, "rejected", "rejected"
	switch {
	case errors.Is(context.Cause(ctx), ErrExpired) || errors.Is(err, ErrExpired) || errors.Is(err, policy.ErrExpired):
		status, code, outcome, err = StatusExpired, "expired", "expired", ErrExpired
	case ctx.Err() != nil:
		s.tellAnswer(ctx, x, a, "canceled")
		s.failStart(ctx, x, ctxerr.Of(ctx))
		return false
	case err != nil:
		code, err = "denied", fmt.Errorf("%w: %w", ErrDenied, err)
	case a.Reason != "":
		err = fmt.Errorf("%w by %s: %s", ErrRejected, cmp.Or(a.By, "the Approver"), a.Reason)
	default:
		err = fmt.Errorf("%w by %s", ErrRejected, cmp.Or(a.By, "the Approver"))
	}
	s.tellAnswer(ctx, x, a, outcome)
	x.fail(status, code, err)
	return false
}

// question is what is asked about x.
func (s *Session) question(x *Exec) policy.Question {
	return policy.Question{
		Exec: x.id, Session: s.id, Principal: s.cfg.Principal, Host: s.host, Shell: s.shellName(), Command: x.shown(nil),
		Dir: s.Dir(), Reason: x.cmd.Reason, Interactive: x.cmd.Interactive, Decision: x.res.Decision,
	}
}

// forSession reports whether an approval for the session covers x, which then runs under it, in a clean shell. It covers
// plain commands alone: what comes on standard input, is done to files or is wrapped into something else is approved by
// itself.
func (s *Session) forSession(ctx context.Context, x *Exec) bool {
	d := x.res.Decision
	by, ok := s.approver(x).(policy.SessionApprover)
	if !ok || d.Needs != "" && d.Needs != policy.NeedsApproval || x.cmd.Stdin != nil || x.cmd.inner.action != nil || x.cmd.inner.wrapping != nil {
		return false
	}
	a, ok := by.ForSession(ctx, s.question(x))
	if !ok {
		return false
	}
	s.bindShell(x)
	d.Verdict, d.Approval, d.Needs, d.Hint = policy.Allow, a.ID, "", ""
	d.ApprovedBy, d.Proof, d.ForSession, d.WithInput = a.By, a.Proof, a.ForSession, a.WithInput && x.cmd.Interactive
	d.Clean = true
	x.mu.Lock()
	x.res.Decision, x.answer = d, a
	x.mu.Unlock()
	return true
}

// approver is who is asked about x; nil is nobody.
func (s *Session) approver(x *Exec) policy.Approver {
	if x.cmd.Unasked {
		return nil
	}
	if x.cmd.Approver != nil {
		return x.cmd.Approver
	}
	return s.cfg.Approver
}

// expiry is when waiting ends; zero if it does not.
func expiry(began time.Time, limit time.Duration) time.Time {
	if limit <= 0 {
		return time.Time{}
	}
	return began.Add(limit)
}

// tellAnswer puts an answer on record, with all that it takes to verify it. A yes that cannot be recorded stops at the
// request's own record.
func (s *Session) tellAnswer(ctx context.Context, x *Exec, a policy.Answer, outcome string) {
	s.tellAnswerTo(ctx, x, a, outcome, "")
}

// tellAnswerTo is tellAnswer where it was asked whether something may be typed at x.
func (s *Session) tellAnswerTo(ctx context.Context, x *Exec, a policy.Answer, outcome, typed string) {
	e := s.event(audit.ApprovalResult, x)
	e.Typed = typed != ""
	e.Status, e.Approval, e.ApprovedBy, e.ApprovalProof, e.Reason = outcome, a.ID, a.By, string(a.Proof), a.Reason
	e.ApprovalDigest, e.Approver, e.ApprovalKey, e.ApprovalSignature = a.Digest, a.Approver, a.Key, a.Signature
	e.WithInput, e.ForSession = a.WithInput, a.ForSession
	if a.Signature != "" && s.harmless(x, typed, a.Document) {
		e.ApprovalDocument = a.Document
	}
	_ = s.cfg.Audit.Record(context.WithoutCancel(ctx), e)
}

// maxRecorded bounds the documents that are put on record whole, in bytes. Of others the digest is there.
const maxRecorded = 64 << 10

// harmless reports whether a document may be put on record as it is: as text, and where nothing in it that is not on record
// anyway has to be redacted.
func (s *Session) harmless(x *Exec, typed, document string) bool {
	if len(document) > maxRecorded || !utf8.ValidString(document) {
		return false
	}
	for _, text := range []string{x.shown(nil), typed, strings.Join(s.host.Env, "\n"), strings.Join(s.host.Command, "\n"), x.bond.head()} {
		if s.cfg.Redact(text) != text {
			return false
		}
	}
	return true
}

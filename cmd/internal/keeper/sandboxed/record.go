package sandboxed

import (
	"context"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/redact"
	"github.com/fairlead-ssh/fairlead/session/store"
)

// What a session puts on record of a command has the id of its exec. What has to be said of the request for it, which
// another session, another keeper or none may run, has the command's own.

// note puts something about a command on record that no session does.
func (r *Runner) note(ctx context.Context, kind audit.Kind, c store.Command, exact string, d policy.Decision, status string) error {
	return r.cfg.Record.Record(context.WithoutCancel(ctx), r.event(kind, c, exact, d, status))
}

func (r *Runner) event(kind audit.Kind, c store.Command, exact string, d policy.Decision, status string) audit.Event {
	e := audit.Event{
		Kind: kind, ID: c.ID, Principal: c.RequestedBy, Host: c.Host, Sandbox: c.Sandbox, Command: c.Command, Exact: []byte(exact),
		CWD: c.Cwd, Verdict: d.Verdict.String(), Rule: d.Rule, Class: string(d.Class), Reason: c.AskReason, Status: status,
	}
	if kind == audit.CommandResult || kind == audit.ApprovalResult {
		e.Command, e.Exact, e.Verdict = "", nil, ""
	}
	return e
}

// noteAnswer puts on record who has answered what, with all that it takes to verify it.
func (r *Runner) noteAnswer(ctx context.Context, c store.Command, q policy.Question, a policy.Answer) error {
	status := "rejected"
	if a.Approved {
		status = "approved"
	}
	e := r.event(audit.ApprovalResult, c, "", q.Decision, status)
	e.Approval, e.ApprovedBy, e.ApprovalProof, e.Reason = a.ID, a.By, string(a.Proof), a.Reason
	e.ApprovalDigest, e.Approver, e.ApprovalKey, e.ApprovalSignature = a.Digest, a.Approver, a.Key, a.Signature
	e.ForSession = a.ForSession
	if a.Signature != "" && r.harmless(q, a.Document) {
		e.ApprovalDocument = a.Document
	}
	return r.cfg.Record.Record(context.WithoutCancel(ctx), e)
}

// maxRecorded bounds the documents that are put on record whole, in bytes. Of others the digest is there.
const maxRecorded = 64 << 10

// harmless reports whether a document may be put on record as it is: as text, with nothing in it to redact that is not on
// record anyway.
func (r *Runner) harmless(q policy.Question, document string) bool {
	if len(document) > maxRecorded || !utf8.ValidString(document) {
		return false
	}
	set := r.cfg.Secrets.With(q.Command)
	for _, text := range []string{q.Command, strings.Join(q.Host.Env, "\n"), strings.Join(q.Host.Command, "\n")} {
		if redacted, _ := set.String(text, redact.Guarded); redacted != text {
			return false
		}
	}
	return true
}

// noteUnanswered puts on record that nobody has answered, and why.
func (r *Runner) noteUnanswered(ctx context.Context, c store.Command, d policy.Decision, status, why string) error {
	e := r.event(audit.ApprovalResult, c, "", d, status)
	e.Error = audit.Fault{Code: status, Message: why}
	return r.cfg.Record.Record(context.WithoutCancel(ctx), e)
}

// noteKept puts on record how a command that waited was answered by what the store keeps of that, and returns it: another
// keeper was given the answer, or this one before it was killed.
func (r *Runner) noteKept(ctx context.Context, c store.Command) (a store.Approval, err error) {
	ctx = context.WithoutCancel(ctx)
	d := policy.Decision{Class: policy.Class(c.Class), Rule: c.Rule}
	switch a, err = r.cfg.Store.Approval(ctx, c.ID); {
	case errors.Is(err, store.ErrNotFound):
		return a, nil // it was allowed, and nobody was asked
	case err != nil:
		return a, err
	case a.Decision == "":
		return a, r.noteUnanswered(ctx, c, d, c.Outcome, c.Reason)
	}
	e := r.event(audit.ApprovalResult, c, "", d, string(a.Decision))
	e.ApprovedBy, e.ApprovalProof, e.Reason, e.ApprovalKey, e.ApprovalSignature = a.By, a.Proof, a.Reason, a.Fingerprint, string(a.Signature)
	return a, r.cfg.Record.Record(ctx, e)
}

// noteNothing puts on record what came to nothing before there was a session to say so, with the answer that it was given.
func (r *Runner) noteNothing(ctx context.Context, c store.Command, exact string, d policy.Decision, yes policy.Answer, end store.End) error {
	asked := r.event(audit.CommandRequest, c, exact, d, "")
	asked.Approval, asked.ApprovedBy, asked.ApprovalProof, asked.ApprovalDigest = yes.ID, yes.By, string(yes.Proof), yes.Digest
	ended := r.event(audit.CommandResult, c, "", d, end.Outcome)
	ended.Error = audit.Fault{Code: end.Outcome, Message: end.Reason}
	for _, e := range []audit.Event{asked, ended} {
		if err := r.cfg.Record.Record(context.WithoutCancel(ctx), e); err != nil {
			return err
		}
	}
	return nil
}

package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// Typing is something to be typed at a command. When Type returns it was typed or refused, or waits for somebody's yes.
type Typing struct {
	done chan struct{}
	stop context.CancelCauseFunc // takes the question back
	err  error                   // set before done is closed

	answered chan struct{} // closed when somebody has answered; what they said is about to be done
}

// Done is closed when it was typed, or never will be.
func (t *Typing) Done() <-chan struct{} { return t.done }

// Awaiting reports whether somebody has yet to approve it.
func (t *Typing) Awaiting() bool {
	select {
	case <-t.done:
		return false
	default:
		return true
	}
}

// Err is why it was not typed; nil where it was, or may yet be.
func (t *Typing) Err() error {
	if t.Awaiting() {
		return nil
	}
	return t.err
}

// Withdraw takes it back where somebody has yet to approve it.
func (t *Typing) Withdraw() {
	if t.Awaiting() && t.stop != nil {
		t.stop(errWithdrawn)
	}
}

func (t *Typing) settle(err error) {
	t.err = err
	close(t.done)
}

// wait waits for what becomes of it. The end of ctx takes it back.
func (t *Typing) wait(ctx context.Context) error {
	select {
	case <-t.done:
	case <-ctx.Done():
		t.stop(context.Cause(ctx))
		<-t.done
	}
	return t.err
}

// Why what waited for an answer was taken back.
var (
	errWithdrawn = errors.New("the caller withdrew the request")
	errTypedOn   = errors.New("something else was done to the command before an answer came")
	errEnded     = errors.New("the command ended before an answer came")
)

// Type is Input for who does not wait for an approval: the Typing tells what becomes of it. While it waits no other text can be
// typed. Keys that need no approval take it back, and so do signals: it was for what the program was at. So does the
// command's end. ctx bounds what comes before somebody is asked.
func (x *Exec) Type(ctx context.Context, p []byte) *Typing { return x.typeIn(ctx, p, string(p)) }

// Asked returns the last Typing that somebody had to approve, or nil.
func (x *Exec) Asked() *Typing {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.lastAsk
}

// takeBack ends the waiting of what waits for an answer, and returns it; nil is nothing.
func (x *Exec) takeBack(why error) *Typing {
	t := x.Asked()
	if t == nil || !t.Awaiting() {
		return nil
	}
	t.stop(why)
	return t
}

// typeIn passes p through the gate, where it is shown as shown.
func (x *Exec) typeIn(ctx context.Context, p []byte, shown string) *Typing {
	t := &Typing{done: make(chan struct{}), answered: make(chan struct{}), stop: func(error) {}}
	d, err := x.judgeInput(ctx, shown)
	switch {
	case err != nil:
		t.settle(err)
	case d.Verdict == policy.Ask && x.s.approver(x) != nil:
		x.ask(ctx, t, p, shown, d)
	default:
		if d.Verdict == policy.Allow {
			if before := x.takeBack(errTypedOn); before != nil {
				<-before.done // it may have just been approved
			}
		}
		t.settle(x.enter(context.WithoutCancel(ctx), p, shown, d, x.answer))
	}
	return t
}

// judgeInput asks the policy. Where that would ask a person, what was approved together with the command is allowed.
func (x *Exec) judgeInput(ctx context.Context, shown string) (policy.Decision, error) {
	if err := x.awaitBegin(ctx); err != nil {
		return policy.Decision{}, x.inputError("canceled", fmt.Errorf("%w: nothing was typed", err))
	}
	if !x.typing() {
		return policy.Decision{}, fmt.Errorf("%w: start it as an interactive one, and type while it runs", ErrNotInteractive)
	}
	d, err := x.s.cfg.Policy.Decide(ctx, x.inputRequest(shown))
	if err != nil {
		return d, x.inputError("denied", fmt.Errorf("%w: the policy could not decide: %w", ErrDenied, err))
	}
	x.mu.Lock()
	given := x.res.Decision
	x.mu.Unlock()
	if d.Verdict == policy.Ask && given.WithInput && given.Proof.AtLeast(d.LeastProof) {
		d = allowedBy(d, x.answer)
		d.WithInput = true
	}
	return d, nil
}

// inputRequest is what the policy is asked about what is to be typed at x.
func (x *Exec) inputRequest(shown string) policy.Request {
	s := x.s
	return policy.Request{
		Principal: s.cfg.Principal, Host: s.host, Shell: s.shellName(), Command: x.cmd.Script, Dir: s.Dir(), Interactive: true, Input: shown,
	}
}

// allowedBy is an ask after somebody's yes.
func allowedBy(d policy.Decision, a policy.Answer) policy.Decision {
	d.Verdict, d.Approval, d.Needs, d.Hint = policy.Allow, a.ID, "", ""
	d.ApprovedBy, d.Proof = a.By, a.Proof
	return d
}

// enter records what was decided, and types p where that is an allow. The end of ctx comes before typing.
func (x *Exec) enter(ctx context.Context, p []byte, shown string, d policy.Decision, a policy.Answer) error {
	s := x.s
	e := s.event(audit.CommandInput, x)
	e.Command, e.Exact = s.cfg.Redact(shown), []byte(shown)
	e.Verdict, e.Rule, e.Class = d.Verdict.String(), d.Rule, string(d.Class)
	if d.Approval != "" && d.Approval == a.ID {
		e.Approval, e.ApprovedBy, e.ApprovalProof, e.ApprovalDigest, e.WithInput = a.ID, a.By, string(a.Proof), a.Digest, d.WithInput
	}
	if err := s.cfg.Audit.Record(context.WithoutCancel(ctx), e); err != nil {
		return x.inputError("audit", fmt.Errorf("%w, so nothing was typed: %w", ErrAudit, err))
	}
	if d.Verdict != policy.Allow {
		return x.inputError("denied", refused(d))
	}
	err := ErrNotInteractive
	x.during(func() { // so that it cannot be typed at the shell
		switch {
		case ctx.Err() != nil:
			err = x.inputError("canceled", fmt.Errorf("%w: nothing was typed", ctxerr.Of(ctx)))
		case x.typing():
			_, err = x.sh.stream.Write(p)
		}
	})
	return err
}

// refused says why nothing is typed, and what would change that.
func refused(d policy.Decision) error {
	why := d.Reason
	if d.Verdict == policy.Ask {
		why += " (approvals are not available here)"
	}
	if d.Hint != "" {
		why += ": " + d.Hint
	}
	return fmt.Errorf("%w: %s; nothing was typed", ErrDenied, why)
}

func (x *Exec) inputError(code string, err error) *Error {
	return &Error{Op: "input", Host: x.s.host.Name, Code: code, Retriable: code == "busy", Err: err}
}

// ask puts p to somebody, and has t wait for the answer.
func (x *Exec) ask(ctx context.Context, t *Typing, p []byte, shown string, d policy.Decision) {
	s, began := x.s, time.Now()
	before := ctx
	ctx, t.stop = context.WithCancelCause(context.WithoutCancel(ctx))
	if err := x.hold(before, t); err != nil {
		t.stop(nil)
		t.settle(err)
		return
	}
	q := policy.Question{
		Exec: x.id, Session: s.id, Principal: s.cfg.Principal, Host: s.host, Shell: s.shellName(), Command: x.shown(nil), Typed: shown,
		Dir: s.Dir(), Reason: x.cmd.Reason, Interactive: true, Decision: d, Asked: began, Expires: expiry(began, s.cfg.ApprovalTimeout),
	}
	goOn := x.holdClocks()
	p = bytes.Clone(p)
	go func() { // ends with the command, which waits for it
		defer x.steps.Done()
		defer t.stop(nil)
		err := x.await(ctx, t, q, p)
		clear(p) // there may be passwords in it
		goOn()
		t.settle(err)
	}()
}

// hold makes t what waits to be typed, and has x not end before x.steps.Done. What was answered before is typed first: a caller
// may have seen what it led to.
func (x *Exec) hold(ctx context.Context, t *Typing) error {
	for {
		x.mu.Lock()
		before := x.lastAsk
		switch {
		case x.over:
			x.mu.Unlock()
			return ErrNotInteractive
		case before == nil || !before.Awaiting():
			x.lastAsk = t
			x.steps.Add(1)
			x.mu.Unlock()
			return nil
		}
		x.mu.Unlock()
		select {
		case <-before.answered:
		default:
			return x.inputError("busy", fmt.Errorf("%w: what was typed before still waits for an approval; wait for that, or take it back with a key such as C-c", ErrBusy))
		}
		select {
		case <-before.done:
		case <-ctx.Done():
			return x.inputError("canceled", fmt.Errorf("%w: nothing was typed", ctxerr.Of(ctx)))
		}
	}
}

// await asks, and types p after a yes.
func (x *Exec) await(ctx context.Context, t *Typing, q policy.Question, p []byte) error {
	s, d := x.s, q.Decision
	e := s.event(audit.ApprovalRequest, x)
	e.Command, e.Exact, e.Typed, e.CWD = s.cfg.Redact(q.Typed), []byte(q.Typed), true, q.Dir
	e.Verdict, e.Rule, e.Class, e.Policy, e.Reason = d.Verdict.String(), d.Rule, string(d.Class), d.Policy, q.Reason
	if err := s.cfg.Audit.Record(context.WithoutCancel(ctx), e); err != nil {
		return x.inputError("audit", fmt.Errorf("%w, so no approval was requested: %w", ErrAudit, err))
	}
	whole := ctx
	if s.cfg.ApprovalTimeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, s.cfg.ApprovalTimeout, ErrExpired)
		defer cancel()
	}
	a, err := s.approver(x).Approve(ctx, q)
	close(t.answered)
	outcome, code := "rejected", "rejected"
	switch {
	case err == nil && a.Approved && ctx.Err() == nil:
		s.tellAnswerTo(ctx, x, a, "approved", q.Typed)
		if now, ok := s.since(whole, x.inputRequest(q.Typed), d, a); !ok && whole.Err() == nil {
			return x.enter(ctx, p, q.Typed, now, policy.Answer{})
		}
		return x.enter(ctx, p, q.Typed, allowedBy(d, a), a)
	case errors.Is(context.Cause(ctx), ErrExpired) || errors.Is(err, ErrExpired) || errors.Is(err, policy.ErrExpired):
		outcome, code, err = "expired", "expired", ErrExpired
	case ctx.Err() != nil:
		s.tellAnswerTo(ctx, x, a, "canceled", q.Typed)
		return x.inputError("canceled", fmt.Errorf("%w: nothing was typed", ctxerr.Of(ctx)))
	case err != nil:
		code, err = "denied", fmt.Errorf("%w: %w", ErrDenied, err)
	case a.Reason != "":
		err = fmt.Errorf("%w by %s: %s", ErrRejected, a.By, a.Reason)
	default:
		err = fmt.Errorf("%w by %s", ErrRejected, a.By)
	}
	s.tellAnswerTo(ctx, x, a, outcome, q.Typed)
	return x.inputError(code, fmt.Errorf("%w; nothing was typed. What is typed is not asked about where the command itself was approved with input: fairlead approvals approve ID --with-input", err))
}

// holdClocks has the command's clocks stand still while a person is asked, until goOn.
func (x *Exec) holdClocks() (goOn func()) {
	began := time.Now()
	for _, clock := range []*time.Timer{x.timer, x.idle} {
		if clock != nil {
			clock.Stop()
		}
	}
	return func() {
		if x.timer != nil {
			x.due = x.due.Add(time.Since(began))
			x.timer.Reset(time.Until(x.due))
		}
		if x.idle != nil {
			x.idle.Reset(x.cmd.Idle)
		}
	}
}

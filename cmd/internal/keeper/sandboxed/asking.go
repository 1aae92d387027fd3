package sandboxed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/registry"
	"github.com/fairlead-ssh/fairlead/session/store"
)

// Question is what somebody is asked about a command. It says nothing of a session, since the command gets a new one: an
// approval for the session is one for the sandbox.
func (r *Runner) Question(c store.Command, exact string, h hosts.Host, d policy.Decision) policy.Question {
	return policy.Question{
		Exec: c.ID, Sandbox: c.Sandbox, Enforcement: c.Enforcement, Principal: c.RequestedBy, Host: h, Command: exact, Dir: c.Cwd, Reason: c.AskReason, Decision: d,
		Asked: r.cfg.Now(), Expires: c.Expires,
	}
}

// await puts a pending command to the desk, where it lies when await returns, and does what is answered there. It ends
// with ctx; then the command waits on in the store.
func (r *Runner) await(ctx context.Context, c store.Command, q policy.Question, f *flight) {
	w, err := r.cfg.Desk.AskKept(q)
	if err != nil {
		defer r.land(c.ID, f)
		if err := r.answered(ctx, c, q, policy.Answer{}, err, f); err != nil {
			r.cfg.Log.Printf("command %s: %v", c.ID, err)
		}
		return
	}
	r.cfg.Go(func() {
		for w != nil {
			w, f = r.awaited(ctx, c, q, w, f)
		}
	})
}

// awaited does what is answered to a question. An answer that could not be kept is none: then the question lies at the
// desk again, and is returned.
func (r *Runner) awaited(ctx context.Context, c store.Command, q policy.Question, w *approval.Waiting, f *flight) (*approval.Waiting, *flight) {
	defer r.land(c.ID, f)
	actx, stop := context.WithCancel(ctx)
	defer stop()
	r.canTakeBack(f, stop)
	answer, err := w.Wait(actx)
	r.canTakeBack(f, nil)
	if actx.Err() != nil {
		if ctx.Err() == nil {
			w.Kept(store.ErrNotPending)
			r.takenBack(ctx, c.ID)
		}
		w.Kept(problem.ErrEnding)
		return nil, nil
	}
	f.kept = w.Kept
	if f.err = r.answered(ctx, c, q, answer, err, f); f.err == nil {
		return nil, nil
	}
	r.cfg.Log.Printf("command %s: %v", c.ID, f.err)
	if f.decided {
		return nil, nil
	}
	failed := f.err
	if _, fault := store.Fault(f.err); fault {
		failed = unkept{f.err}
	} else if now, err := r.cfg.Store.Command(ctx, c.ID); err != nil || now.Status != store.Pending {
		w.Kept(failed)
		return nil, nil
	}
	// It lies there before whoever answered hears of the failure, and answers again.
	next := r.take(c.ID, f.timeout)
	next.way = f.way
	again, err := r.cfg.Desk.AskKept(q)
	w.Kept(failed)
	if err != nil {
		r.land(c.ID, next)
		return nil, nil
	}
	return again, next
}

// unkept is why an answer does not count, for whoever gave it.
type unkept struct{ error }

func (u unkept) Error() string {
	return approval.ErrUnkept.Error() + ": it does not count, and the request stays pending: " + problem.Of(u.error).Detail
}

func (u unkept) Unwrap() []error { return []error{u.error, approval.ErrUnkept} }

// answered does what was answered: begins the command, or ends it.
func (r *Runner) answered(ctx context.Context, c store.Command, q policy.Question, a policy.Answer, failure error, f *flight) error {
	switch {
	case errors.Is(failure, approval.ErrExpired):
		err := r.withdraw(ctx, c.ID, "expired", "it was not answered in time")
		return errors.Join(err, r.noteUnanswered(ctx, c, q.Decision, "expired", "it was not answered in time"))
	case failure != nil:
		err := r.withdraw(ctx, c.ID, "denied", failure.Error())
		return errors.Join(err, r.noteUnanswered(ctx, c, q.Decision, "denied", failure.Error()))
	}
	asked, err := r.cfg.Store.Approval(ctx, c.ID)
	if err != nil {
		return err
	}
	decided, err := r.cfg.Store.Decide(ctx, c.ID, store.Decision{
		Approve: a.Approved, By: a.By, Proof: string(a.Proof), Reason: a.Reason, Digest: asked.Digest,
		Fingerprint: a.Key, Signature: []byte(a.Signature),
	})
	if err != nil {
		return err
	}
	f.decided = true
	f.kept(nil)
	noted := r.noteAnswer(ctx, c, q, a)
	if !a.Approved {
		r.cfg.Ended(decided, a.ID)
		return noted
	}
	c, exact, err := r.cfg.Store.Begin(ctx, c.ID, r.cfg.ID)
	if err != nil {
		return err
	}
	if noted != nil {
		r.conclude(ctx, c, r.endAs("error", fmt.Errorf("%w, so nothing was sent", noted)))
		return nil
	}
	r.run(ctx, c, string(exact), f, &Answered{q, a, f.way})
	return nil
}

// takenBack puts on record what became of a command that was asked about here too and was settled elsewhere.
func (r *Runner) takenBack(ctx context.Context, id string) {
	c, err := r.cfg.Store.Command(ctx, id)
	if err == nil {
		_, err = r.noteKept(ctx, c)
	}
	if err != nil {
		r.cfg.Log.Printf("command %s: its answer is not in the audit log: %v", id, err)
	}
}

// AskAgain puts a command that waited in another keeper to the desk, if it is still what it was.
func (r *Runner) AskAgain(ctx context.Context, id string) (err error) {
	f := r.takeNew(id, r.cfg.Timeout)
	if f == nil {
		return nil // it is asked about already
	}
	put := false
	defer func() {
		if !put {
			r.land(id, f)
		}
	}()
	c, err := r.cfg.Store.Command(ctx, id)
	if err != nil || c.Status != store.Pending {
		return err
	}
	void := func(why string) error {
		if r.cfg.Store.Shared() {
			return nil // it is for the keeper that can tell
		}
		if err := r.withdraw(ctx, id, "denied", why); err != nil {
			return err
		}
		return r.noteUnanswered(ctx, c, policy.Decision{Class: policy.Class(c.Class), Rule: c.Rule}, "denied", why)
	}
	exact, err := r.cfg.Store.Exact(ctx, id)
	if err != nil {
		return err
	}
	asked, err := r.cfg.Store.Approval(ctx, id)
	if err != nil {
		return err
	}
	p, err := approval.Parse(asked.Document)
	if err != nil {
		return void("what was asked cannot be read any more")
	}
	at, done, err := r.cfg.Places.Find(c.RequestedBy, c.Host)
	var gone *HostError
	switch {
	case errors.As(err, &gone):
		return void("its host is not in the inventory any more")
	case err != nil:
		return err
	}
	f.way = at.Way()
	h := at.Host()
	done()
	q := r.Question(c, string(exact), h, p.Question.Decision)
	if !same(q, p.Question) {
		return void("its host is another one now")
	}
	q.Asked = p.Question.Asked // it has waited since then
	put = true
	r.await(r.cfg.Base, c, q, f)
	return nil
}

func commandFor(exact string, c store.Command, timeout time.Duration) registry.Command {
	return registry.Command{Script: exact, Reason: c.AskReason, Timeout: timeout}
}

// endOf is what the store keeps of a command that has ended: without secrets, whoever reads it.
func (r *Runner) endOf(x *registry.Exec) store.End {
	v, err := x.View(registry.Budgets{})
	if err != nil {
		return store.End{Status: store.Failed, Outcome: "error", Reason: r.redacted(err.Error())}
	}
	res := &v.Result
	clean := func(b []byte) []byte {
		b, n := r.cfg.Secrets.Bytes(b, 0)
		v.Redacted.Add(n)
		return b
	}
	res.Stdout, res.Stderr, res.Stray = clean(res.Stdout), clean(res.Stderr), clean(res.Stray)
	res.Command = r.redacted(res.Command)
	end := store.End{Status: endStatus(string(res.Status)), Outcome: string(res.Status), Session: res.Session, ExitCode: res.ExitCode, Exec: kept(wire.ResultOf(res, v.Redacted.Kinds))}
	_, end.Stdout = wire.Encode(res.Stdout, utf8.Valid(res.Stdout))
	_, end.Stderr = wire.Encode(res.Stderr, utf8.Valid(res.Stderr))
	if res.ExitCode != nil && (res.Status == session.StatusOK || res.Status == session.StatusExit) {
		end.Status = store.Executed
	}
	if res.Err != nil {
		end.Reason = r.redacted(problem.Of(res.Err).Detail)
	}
	return end
}

// kept is a Result in the form in which the store keeps it.
func kept(r *wire.Result) json.RawMessage {
	b, err := json.Marshal(r)
	if err != nil {
		return nil
	}
	return b
}

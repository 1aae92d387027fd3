package keeper

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/registry"
	"github.com/fairlead-ssh/fairlead/session/sandbox"
	"github.com/fairlead-ssh/fairlead/session/store"
)

// questionOf is what somebody is asked about a command. It says nothing of a session, since the command gets a new one: an
// approval for the session is one for the sandbox.
func (t *terminal) questionOf(c store.Command, exact string, h hosts.Host, d policy.Decision) policy.Question {
	return policy.Question{
		Exec: c.ID, Sandbox: c.Sandbox, Principal: c.RequestedBy, Host: h, Command: exact, Dir: c.Cwd, Reason: c.AskReason, Decision: d,
		Asked: t.k.now(), Expires: c.Expires,
	}
}

// await puts a pending command to the desk, where it lies when await returns, and does what is answered there. It ends
// with ctx; then the command waits on in the store.
func (t *terminal) await(ctx context.Context, c store.Command, q policy.Question, f *flight) {
	w, err := t.k.desk.Ask(q)
	if err != nil {
		defer t.land(c.ID, f)
		if err := t.answered(ctx, c, q, policy.Answer{}, err, f); err != nil {
			t.k.log.Printf("command %s: %v", c.ID, err)
		}
		return
	}
	t.k.leaving.Go(func() {
		for w != nil {
			w, f = t.awaited(ctx, c, q, w, f)
		}
	})
}

// awaited does what is answered to a question. An answer that could not be kept is none: then the question lies at the
// desk again, and is returned.
func (t *terminal) awaited(ctx context.Context, c store.Command, q policy.Question, w *approval.Waiting, f *flight) (*approval.Waiting, *flight) {
	defer t.land(c.ID, f)
	actx, stop := context.WithCancel(ctx)
	defer stop()
	t.canTakeBack(f, stop)
	answer, err := w.Wait(actx)
	t.canTakeBack(f, nil)
	if actx.Err() != nil {
		if ctx.Err() == nil {
			t.takenBack(ctx, c.ID)
		}
		return nil, nil
	}
	if f.err = t.answered(ctx, c, q, answer, err, f); f.err == nil {
		return nil, nil
	}
	t.k.log.Printf("command %s: %v", c.ID, f.err)
	if now, err := t.store.Command(ctx, c.ID); err != nil || now.Status != store.Pending {
		return nil, nil
	}
	again, err := t.k.desk.Ask(q)
	if err != nil {
		return nil, nil
	}
	next := t.take(c.ID, f.timeout)
	next.way = f.way
	return again, next
}

// answered does what was answered: begins the command, or ends it.
func (t *terminal) answered(ctx context.Context, c store.Command, q policy.Question, a policy.Answer, failure error, f *flight) error {
	switch {
	case errors.Is(failure, approval.ErrExpired):
		err := t.withdraw(ctx, c.ID, "expired", "it was not answered in time")
		return errors.Join(err, t.noteUnanswered(ctx, c, q.Decision, "expired", "it was not answered in time"))
	case failure != nil:
		err := t.withdraw(ctx, c.ID, "denied", failure.Error())
		return errors.Join(err, t.noteUnanswered(ctx, c, q.Decision, "denied", failure.Error()))
	}
	asked, err := t.store.Approval(ctx, c.ID)
	if err != nil {
		return err
	}
	decided, err := t.store.Decide(ctx, c.ID, store.Decision{
		Approve: a.Approved, By: a.By, Proof: string(a.Proof), Reason: a.Reason, Digest: asked.Digest,
		Fingerprint: a.Key, Signature: []byte(a.Signature),
	})
	if err != nil {
		return err
	}
	noted := t.noteAnswer(ctx, c, q, a)
	if !a.Approved {
		t.ended(decided, a.ID)
		return noted
	}
	c, exact, err := t.store.Begin(ctx, c.ID, t.id)
	if err != nil {
		return err
	}
	if noted != nil {
		t.conclude(ctx, c, t.endAs("error", fmt.Errorf("%w, so nothing was sent", noted)))
		return nil
	}
	t.run(ctx, c, string(exact), f, &answered{q, a, f.way})
	return nil
}

// takenBack puts on record what became of a command that was asked about here too and was settled elsewhere.
func (t *terminal) takenBack(ctx context.Context, id string) {
	c, err := t.store.Command(ctx, id)
	if err == nil {
		_, err = t.noteKept(ctx, c)
	}
	if err != nil {
		t.k.log.Printf("command %s: its answer is not in the audit log: %v", id, err)
	}
}

// askAgain puts a command that waited in another keeper to the desk, if it is still what it was.
func (t *terminal) askAgain(ctx context.Context, id string) (err error) {
	f := t.takeNew(id, agentTimeout)
	if f == nil {
		return nil // it is asked about already
	}
	put := false
	defer func() {
		if !put {
			t.land(id, f)
		}
	}()
	c, err := t.store.Command(ctx, id)
	if err != nil || c.Status != store.Pending {
		return err
	}
	void := func(why string) error {
		if t.store.Shared() {
			return nil // it is for the keeper that can tell
		}
		if err := t.withdraw(ctx, id, "denied", why); err != nil {
			return err
		}
		return t.noteUnanswered(ctx, c, policy.Decision{Class: policy.Class(c.Class), Rule: c.Rule}, "denied", why)
	}
	exact, err := t.store.Exact(ctx, id)
	if err != nil {
		return err
	}
	asked, err := t.store.Approval(ctx, id)
	if err != nil {
		return err
	}
	p, err := approval.Parse(asked.Document)
	if err != nil {
		return void("what was asked cannot be read any more")
	}
	who := &access.Caller{Principal: c.RequestedBy, Inventory: t.k.cfg.Inventory}
	h, err := t.k.terminalHost(who, c.Host)
	if err != nil {
		return void("its host is not in the inventory any more")
	}
	r, done, err := t.k.realm(who)
	if err != nil {
		return err
	}
	f.way = r.conn.way(h)
	done()
	q := t.questionOf(c, string(exact), h, p.Question.Decision)
	if !same(q, p.Question) {
		return void("its host is another one now")
	}
	q.Asked = p.Question.Asked // it has waited since then
	put = true
	t.await(t.k.base, c, q, f)
	return nil
}

// enter opens a session for one command, in its directory, held as every session in its sandbox is, and notes it in the
// record. What would hold it less than what it was judged under is an errBox.
func (t *terminal) enter(ctx context.Context, r *realm, h hosts.Host, c store.Command, f *flight) (*registry.Entry, error) {
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, ownKey{}, true), beforeSending)
	defer cancel()
	b, err := t.sandbox(ctx, r, h, c.Sandbox)
	if err != nil {
		return nil, err
	}
	dir, err := boxOf(b).Resolve(c.Cwd)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", problem.ErrSandbox, strings.TrimPrefix(err.Error(), "sandbox: "))
	}
	held := f.held
	if held == nil {
		now, err := t.k.held(ctx, r, h, boxOf(b), r.look(h), sandbox.Level(c.Enforcement))
		if err != nil {
			return nil, err
		}
		held = &now
	}
	// What has been asked about as under a weaker level is judged so again: else it would be another question.
	judged := cmp.Or(sandbox.Level(c.Enforcement), levelOf(h))
	place, err := t.k.place(&boxed{t: t, r: r, box: b, level: judged}, dir, *held)
	if err != nil {
		return nil, err
	}
	e, err := r.reg.Open(ctx, registry.OpenRequest{Principal: r.key.principal, Host: h, Reason: "sandbox", Place: &place})
	if err != nil {
		return nil, err
	}
	if err := t.store.Enter(ctx, c.ID, t.id, e.ID(), e.Sandbox()); err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

func commandFor(exact string, c store.Command, timeout time.Duration) registry.Command {
	return registry.Command{Script: exact, Reason: c.AskReason, Timeout: timeout}
}

// endOf is what the store keeps of a command that has ended: without secrets, whoever reads it.
func (t *terminal) endOf(x *registry.Exec) store.End {
	v, err := x.View(registry.Budgets{})
	if err != nil {
		return store.End{Status: store.Failed, Outcome: "error", Reason: t.redacted(err.Error())}
	}
	r := &v.Result
	clean := func(b []byte) []byte {
		b, n := t.k.secrets.Bytes(b, 0)
		v.Redacted.Add(n)
		return b
	}
	r.Stdout, r.Stderr, r.Stray = clean(r.Stdout), clean(r.Stderr), clean(r.Stray)
	r.Command = t.redacted(r.Command)
	end := store.End{Status: endStatus(string(r.Status)), Outcome: string(r.Status), Session: r.Session, ExitCode: r.ExitCode, Exec: resultJSON(wire.ResultOf(r, v.Redacted.Kinds))}
	_, end.Stdout = wire.Encode(r.Stdout, utf8.Valid(r.Stdout))
	_, end.Stderr = wire.Encode(r.Stderr, utf8.Valid(r.Stderr))
	if r.ExitCode != nil && (r.Status == session.StatusOK || r.Status == session.StatusExit) {
		end.Status = store.Executed
	}
	if r.Err != nil {
		end.Reason = t.redacted(problem.Of(r.Err).Detail)
	}
	return end
}

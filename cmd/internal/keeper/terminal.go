package keeper

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/redact"
	"github.com/fairlead-ssh/fairlead/session/sandbox"
	"github.com/fairlead-ssh/fairlead/session/store"
)

// terminal runs commands in sandboxes, each in a shell of its own, and keeps what becomes of them in the store.
type terminal struct {
	k     *Keeper
	store *store.Store
	id    string // of this keeper

	logged uint64 // entries of the audit log that are of earlier keepers

	fault atomic.Pointer[string] // what was wrong with the store when it was looked at; nil or "" is nothing

	mu     sync.Mutex // guards flying
	flying map[string]*flight
}

// flight is a command that waits for an answer or runs in this process.
type flight struct {
	timeout time.Duration
	held    *sandbox.Enforcement // what holds it, where that has just been looked at; else nil
	ended   chan struct{}        // closed when the record has its end, or an answer could not be used
	err     error                // why the answer could not be used; set before ended is closed
	way     string               // how its host was reached when it was asked about, see connector.way
	asked   func()               // takes back the question; nil where nobody is asked
}

func newTerminal(k *Keeper) *terminal {
	return &terminal{k: k, store: k.cfg.Store, id: k.cfg.ID, flying: map[string]*flight{}}
}

// sweepEvery is how often the keeper gives a sign of life to the store.
const sweepEvery = 10 * time.Second

// recover finds what a keeper before this one has left: what it had begun is lost, what was approved and not begun is
// withdrawn, and what waits is asked again.
func (t *terminal) recover(ctx context.Context) error {
	t.atStart()
	found, err := t.store.Recover(ctx, t.id)
	if err != nil {
		return err
	}
	t.endedAll(ctx, found.Lost)
	for _, id := range found.Approved {
		if t.store.Shared() {
			break // another keeper may be about to begin it: endAbandoned looks longer
		}
		if err := t.forgo(ctx, id); err != nil {
			t.k.log.Printf("command %s: %v", id, err)
		}
	}
	answered, err := t.answeredBefore(found.Pending)
	if err != nil {
		return err
	}
	for _, id := range found.Pending {
		if status, ok := answered[id]; ok {
			if err := t.forbidAgain(ctx, id, status); err != nil {
				return err
			}
			continue
		}
		if err := t.askAgain(ctx, id); err != nil {
			t.k.log.Printf("command %s: %v", id, err)
		}
	}
	t.k.leaving.Go(func() { t.watchStore(ctx) })
	if t.k.cfg.Keep > 0 {
		t.k.leaving.Go(func() { t.forget(ctx) })
	}
	t.k.leaving.Go(func() {
		if err := t.closeEntries(ctx); err != nil && ctx.Err() == nil {
			t.k.log.Printf("the audit log has requests without a result: %v", err)
		}
	})
	t.k.leaving.Go(func() {
		tick := time.NewTicker(t.k.cfg.sweep)
		defer tick.Stop()
		looks := map[string]int{}
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				swept, err := t.store.Sweep(ctx, t.id)
				t.endedAll(ctx, swept.Lost)
				t.endedAll(ctx, swept.Expired)
				if err == nil {
					err = t.reconcile(ctx)
				}
				if err == nil {
					err = t.endAbandoned(ctx, looks)
				}
				if err = errors.Join(err, t.k.callers.Tokens.Check(ctx, t.store)); err != nil && ctx.Err() == nil {
					t.k.log.Printf("%v", err)
				}
			}
		}
	})
	return nil
}

// forgo ends a command that was approved and that nobody has begun. Its answer goes on record now: it may not be there yet.
func (t *terminal) forgo(ctx context.Context, id string) error {
	c, err := t.store.Withdraw(ctx, id, "canceled", "the keeper ended before it ran")
	if err != nil {
		return err
	}
	t.ended(c, "")
	a, err := t.noteKept(ctx, c)
	if err != nil {
		return err
	}
	d := policy.Decision{Verdict: policy.Allow, Class: policy.Class(c.Class), Rule: c.Rule}
	return t.noteNothing(ctx, c, "", d, policy.Answer{By: a.By, Proof: policy.Proof(a.Proof)}, store.End{Outcome: c.Outcome, Reason: c.Reason})
}

// leave says that this keeper is gone.
func (t *terminal) leave() error {
	ctx, cancel := context.WithTimeout(context.Background(), DefaultGrace)
	defer cancel()
	_, err := t.store.Leave(ctx, t.id)
	return err
}

func (t *terminal) take(id string, timeout time.Duration) *flight {
	f := &flight{timeout: timeout, ended: make(chan struct{})}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.flying[id] = f
	return f
}

// takeNew is take for what may be in the air already; then it is nil.
func (t *terminal) takeNew(id string, timeout time.Duration) *flight {
	f := &flight{timeout: timeout, ended: make(chan struct{})}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.flying[id] != nil {
		return nil
	}
	t.flying[id] = f
	return f
}

func (t *terminal) land(id string, f *flight) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.flying[id] == f {
		delete(t.flying, id)
	}
	close(f.ended)
}

// wait waits for the end of a command, if it is this process's, and returns its record as it is then.
func (t *terminal) wait(ctx context.Context, id string, wait time.Duration) (store.Command, error) {
	t.mu.Lock()
	f := t.flying[id]
	t.mu.Unlock()
	if f != nil && wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		select {
		case <-f.ended:
			if f.err != nil {
				return store.Command{}, f.err
			}
		case <-timer.C:
		case <-ctx.Done():
		}
	}
	return t.store.Command(context.WithoutCancel(ctx), id)
}

// errVoid is why a yes does not count any more.
var errVoid = errors.New("what was approved is not what would run now")

// approver asks at the desk, but for commands that have their answer already: those must be what was asked about.
type approver struct{ k *Keeper }

// answered is a yes that a command brings along, with what it was for.
type answered struct {
	question policy.Question
	answer   policy.Answer
	way      string // how its host was reached then
}

type answeredKey struct{}

// Approve implements policy.Approver.
func (a approver) Approve(ctx context.Context, q policy.Question) (policy.Answer, error) {
	if given, ok := ctx.Value(answeredKey{}).(answered); ok {
		if !same(given.question, q) {
			return policy.Answer{}, errVoid
		}
		return given.answer, nil
	}
	a.k.asks(ctx)
	return a.k.desk.Approve(ctx, a.k.byStore(q))
}

// ForSession implements policy.SessionApprover. A command in a sandbox brings its answer along.
func (a approver) ForSession(ctx context.Context, q policy.Question) (policy.Answer, bool) {
	if given, ok := ctx.Value(answeredKey{}).(answered); ok {
		return given.answer, given.answer.ForSession != "" && same(given.question, q)
	}
	return a.k.desk.ForSession(q)
}

// asks notes whose process tree is about to ask, so that it does not answer: where an agent asks that is known by the marks
// in its environment, as by fairlead exec.
func (k *Keeper) asks(ctx context.Context) {
	if c := access.CallerOf(ctx); c != nil && c.Role == access.Agent && c.Pid > 0 {
		k.trees.AskedMarked(c.Pid)
	}
}

// unchanged refuses a host that is not the one that was approved, where there was an approval: before anything is dialed,
// since a login at another address would show it the keys.
func unchanged(ctx context.Context, r *realm, h hosts.Host) error {
	given, ok := ctx.Value(answeredKey{}).(answered)
	if !ok || given.answer.ID == "" {
		return nil
	}
	q := given.question
	q.Host = h
	switch {
	case !same(given.question, q):
		return fmt.Errorf("%w: the inventory says something else of %s than when it was approved. Request it again", errVoid, h.Name)
	case given.way != r.conn.way(h):
		return fmt.Errorf("%w: ssh_config leads to %s in another way than when it was approved. Request it again", errVoid, h.Name)
	}
	return nil
}

// same reports whether two questions are about the same command at the same place, judged alike.
func same(a, b policy.Question) bool {
	return string(essence(a)) == string(essence(b))
}

// essence is what of a question a yes is bound to beyond the moment in which it was asked.
func essence(q policy.Question) []byte {
	q.Exec, q.Session, q.Sandbox, q.Shell, q.Asked, q.Expires = "", "", "", "", time.Time{}, time.Time{}
	q.Decision = policy.Decision{Class: q.Decision.Class, Rule: q.Decision.Rule}
	return approval.Pending{Question: q}.Document()
}

// redacted takes secrets out of what the store keeps.
func (t *terminal) redacted(text string) string {
	return redactorOf(t.k.secrets)(text)
}

func redactorOf(set *redact.Set) func(text string) string {
	return func(text string) string {
		text, _ = set.String(text, redact.Guarded)
		return text
	}
}

// resultJSON is the Result in the record.
func resultJSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return b
}

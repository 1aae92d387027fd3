// Package sandboxed runs commands in sandboxes: each in a shell of its own, kept in the store from the request to its end.
//
// A [Runner] owns what happens to a command between the two: the question at the desk, the answer, the claim in the store
// by which one keeper of several runs it, its entries in the audit log, and what is to be done about commands that another
// keeper has left. Judging a command, and the shell that it runs in, are the caller's: see [Places].
//
// The goroutines of a Runner end with Config.Base.
package sandboxed

import (
	"context"
	"errors"
	"log"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/redact"
	"github.com/fairlead-ssh/fairlead/session/registry"
	"github.com/fairlead-ssh/fairlead/session/sandbox"
	"github.com/fairlead-ssh/fairlead/session/store"
)

// Config says what a Runner works with. All of it but AuditDir and Keep is required.
type Config struct {
	Store    *store.Store
	ID       string // of this keeper
	AuditDir string // "" looks at no audit log
	Record   access.Record
	Desk     *approval.Desk
	Secrets  *redact.Set
	Log      *log.Logger
	Now      func() time.Time // the store's clock

	Places Places
	Asks   func(ctx context.Context)              // is told before somebody is asked
	Ended  func(c store.Command, approval string) // is told once an end is kept; approval is the ask that was answered, "" leaves that to its Result
	Check  func(ctx context.Context) error        // is called with each sweep

	ApprovalTimeout time.Duration
	Timeout         time.Duration // of a command that another keeper was asked for
	Opening         time.Duration // bounds opening a session
	Grace           time.Duration // for the last words to the store
	Keep            time.Duration // how long the store keeps what has ended; 0 is for ever
	Sweep           time.Duration // how often the keeper gives a sign of life to the store
	Look            time.Duration // how often the store is asked whether it can be read

	Base context.Context // ends with the keeper
	Go   func(func())    // starts a goroutine that the keeper waits for
}

// Places is where commands run.
type Places interface {
	// Find returns the place of a principal on a host, and what to call when it is not needed any more. A host that is not
	// there is a HostError.
	Find(principal, host string) (Place, func(), error)
}

// HostError says that a host cannot be used as it was when a command was asked about: it is not in the inventory any more.
type HostError struct{ Err error }

// Error returns what Err says.
func (e *HostError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *HostError) Unwrap() error { return e.Err }

// Place is a host as one principal reaches it.
type Place interface {
	Host() hosts.Host
	// Way tells how the host is reached now. It dials nothing.
	Way() string
	// Enter opens a session for one command, in its directory, held as every session in its sandbox is: by held, where that
	// has just been looked at. What would hold it less than what it was judged under is a problem.ErrSandbox.
	Enter(ctx context.Context, c store.Command, held *sandbox.Enforcement) (*registry.Entry, error)
	// Ours tells from then on, until the returned function is called, that a session is for a command.
	Ours(session string) func()
}

// Runner runs commands in sandboxes, each in a shell of its own, and keeps what becomes of them in the store. Make one with
// New. Its methods may be called concurrently.
type Runner struct {
	cfg Config

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
	way     string               // how its host was reached when it was asked about, see Place
	asked   func()               // takes back the question; nil where nobody is asked
	decided bool                 // the answer is in the store
	kept    func(error)          // says that the answer is in the store, see approval.Waiting.Kept
}

// New returns a Runner that does nothing until it is told to Recover.
func New(cfg Config) *Runner { return &Runner{cfg: cfg, flying: map[string]*flight{}} }

// Recover finds what a keeper before this one has left: what it had begun is lost, what was approved and not begun is
// withdrawn, and what waits is asked again.
func (r *Runner) Recover(ctx context.Context) error {
	r.atStart()
	found, err := r.cfg.Store.Recover(ctx, r.cfg.ID)
	if err != nil {
		return err
	}
	r.endedAll(ctx, found.Lost)
	for _, id := range found.Approved {
		if r.cfg.Store.Shared() {
			break // another keeper may be about to begin it: endAbandoned looks longer
		}
		if err := r.forgo(ctx, id); err != nil {
			r.cfg.Log.Printf("command %s: %v", id, err)
		}
	}
	answered, err := r.answeredBefore(found.Pending)
	if err != nil {
		return err
	}
	for _, id := range found.Pending {
		if status, ok := answered[id]; ok {
			if err := r.forbidAgain(ctx, id, status); err != nil {
				return err
			}
			continue
		}
		if err := r.AskAgain(ctx, id); err != nil {
			r.cfg.Log.Printf("command %s: %v", id, err)
		}
	}
	r.cfg.Go(func() { r.watchStore(ctx) })
	if r.cfg.Keep > 0 {
		r.cfg.Go(func() { r.forget(ctx) })
	}
	r.cfg.Go(func() {
		if err := r.closeEntries(ctx); err != nil && ctx.Err() == nil {
			r.cfg.Log.Printf("the audit log has requests without a result: %v", err)
		}
	})
	r.cfg.Go(func() {
		tick := time.NewTicker(r.cfg.Sweep)
		defer tick.Stop()
		looks := map[string]int{}
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				swept, err := r.cfg.Store.Sweep(ctx, r.cfg.ID)
				r.endedAll(ctx, swept.Lost)
				r.endedAll(ctx, swept.Expired)
				r.endedAll(ctx, swept.Outlived)
				for _, id := range swept.Outlived {
					r.takeBack(id) // what asks about it puts its end on record
				}
				if err == nil {
					err = r.Reconcile(ctx)
				}
				if err == nil {
					err = r.endAbandoned(ctx, looks)
				}
				if err = errors.Join(err, r.cfg.Check(ctx)); err != nil && ctx.Err() == nil {
					r.cfg.Log.Printf("%v", err)
				}
			}
		}
	})
	return nil
}

// forgo ends a command that was approved and that nobody has begun. Its answer goes on record now: it may not be there yet.
func (r *Runner) forgo(ctx context.Context, id string) error {
	c, err := r.cfg.Store.Withdraw(ctx, id, "canceled", "the keeper ended before it ran")
	if err != nil {
		return err
	}
	r.cfg.Ended(c, "")
	a, err := r.noteKept(ctx, c)
	if err != nil {
		return err
	}
	d := policy.Decision{Verdict: policy.Allow, Class: policy.Class(c.Class), Rule: c.Rule}
	return r.noteNothing(ctx, c, "", d, policy.Answer{By: a.By, Proof: policy.Proof(a.Proof)}, store.End{Outcome: c.Outcome, Reason: c.Reason})
}

// Leave says that this keeper is gone.
func (r *Runner) Leave() error {
	ctx, cancel := context.WithTimeout(context.Background(), r.cfg.Grace)
	defer cancel()
	_, err := r.cfg.Store.Leave(ctx, r.cfg.ID)
	return err
}

func (r *Runner) take(id string, timeout time.Duration) *flight {
	f := &flight{timeout: timeout, ended: make(chan struct{})}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.flying[id] = f
	return f
}

// takeNew is take for what may be in the air already; then it is nil.
func (r *Runner) takeNew(id string, timeout time.Duration) *flight {
	f := &flight{timeout: timeout, ended: make(chan struct{})}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.flying[id] != nil {
		return nil
	}
	r.flying[id] = f
	return f
}

func (r *Runner) land(id string, f *flight) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.flying[id] == f {
		delete(r.flying, id)
	}
	close(f.ended)
}

// Wait waits for the end of a command, if it is this process's, and returns its record as it is then.
func (r *Runner) Wait(ctx context.Context, id string, wait time.Duration) (store.Command, error) {
	r.mu.Lock()
	f := r.flying[id]
	r.mu.Unlock()
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
	return r.cfg.Store.Command(context.WithoutCancel(ctx), id)
}

// redacted takes secrets out of what the store keeps.
func (r *Runner) redacted(text string) string {
	text, _ = r.cfg.Secrets.String(text, redact.Guarded)
	return text
}

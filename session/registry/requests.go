package registry

import (
	"context"
	"slices"
	"time"

	"github.com/fairlead-ssh/fairlead/session/internal/ctxerr"
)

// key is a request id of a principal.
type key struct{ principal, id string }

// claim is what became of a request id.
type claim struct {
	session string
	cmd     Command
	at      time.Time
	ready   chan struct{} // closed when exec is set or the claim was given up
	exec    *Exec
}

// ledger remembers request ids, so that a command asked for twice runs once.
type ledger struct {
	m     map[key]*claim
	order []key // the oldest first
}

// once runs start for the first of equal requests with an id. Others with the same id get the same Exec, also while it is
// being started. A request that was refused before anything was sent leaves nothing behind: it may be made again.
func (r *Registry) once(ctx context.Context, e *Entry, cmd Command, start func() (*Exec, error)) (*Exec, error) {
	k := key{e.principal, cmd.RequestID}
	cmd.SlotWait = 0 // how long a caller waits does not make it another request
	for {
		r.mu.Lock()
		c := r.keys.m[k]
		if c == nil {
			c = &claim{session: e.ID(), cmd: cmd, at: time.Now(), ready: make(chan struct{})}
			r.keys.add(k, c, r.cfg.MaxRequests, r.cfg.KeepFor)
			r.mu.Unlock()
			return r.firstOf(k, c, start)
		}
		r.mu.Unlock()
		if c.session != e.ID() || c.cmd != cmd {
			return nil, fault("run", e.Host().Name, CodeConflict, false, "the request id %.80q was used for another request", cmd.RequestID)
		}
		select {
		case <-c.ready:
		case <-ctx.Done():
			return nil, fault("run", e.Host().Name, "canceled", true, "%w", ctxerr.Of(ctx))
		}
		if c.exec == nil {
			continue // given up: ours is the first now
		}
		c.exec.mu.Lock()
		gone := c.exec.gone
		c.exec.mu.Unlock()
		if gone {
			return nil, fault("run", e.Host().Name, CodeGone, false, "that request has run as %s, and its output is not kept any more", c.exec.ID())
		}
		return c.exec, nil
	}
}

// firstOf starts the command of a new claim.
func (r *Registry) firstOf(k key, c *claim, start func() (*Exec, error)) (*Exec, error) {
	x, err := start()
	r.mu.Lock()
	defer r.mu.Unlock()
	defer close(c.ready)
	if err != nil || x.Unsent() {
		r.keys.remove(k)
		return x, err
	}
	c.exec = x
	return x, nil
}

func (l *ledger) add(k key, c *claim, most int, keep time.Duration) {
	for len(l.order) > 0 {
		oldest := l.m[l.order[0]]
		if (most <= 0 || len(l.order) < most) && (keep <= 0 || time.Since(oldest.at) < keep) {
			break
		}
		l.remove(l.order[0])
	}
	l.m[k] = c
	l.order = append(l.order, k)
}

func (l *ledger) remove(k key) {
	delete(l.m, k)
	if i := slices.Index(l.order, k); i >= 0 {
		l.order = slices.Delete(l.order, i, i+1)
	}
}

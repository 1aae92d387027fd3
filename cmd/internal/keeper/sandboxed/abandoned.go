package sandboxed

import (
	"context"
	"errors"

	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/store"
)

// A database that is slow may do what it was asked after it was given up, and a keeper may end at any moment. So the store may have
// requests as approved that run nowhere and that no keeper is about to run. Each sweep looks for them.

// looksTillAbandoned is how many sweeps find a request approved and not begun before it is withdrawn: another keeper that has just
// been given the answer begins it sooner. Of a withdrawal and a beginning one happens.
const looksTillAbandoned = 4

// endAbandoned ends them. looks has how often each was found, and is used by one goroutine.
func (r *Runner) endAbandoned(ctx context.Context, looks map[string]int) error {
	found, err := r.listed(ctx, store.Approved)
	if err != nil {
		return err
	}
	for id := range looks {
		if _, ok := found[id]; !ok {
			delete(looks, id)
		}
	}
	var errs []error
	for id, c := range found {
		switch {
		case r.inTheAir(id): // asked after the list was made: what was begun here before that has landed only with its end
			delete(looks, id)
		case c.ClaimedBy == r.cfg.ID:
			errs = append(errs, r.neverBegun(ctx, c))
		case c.ClaimedBy == "":
			if looks[id]++; !r.cfg.Store.Shared() || looks[id] >= looksTillAbandoned {
				errs = append(errs, r.forgo(ctx, id))
			}
		}
	}
	for i, err := range errs {
		if errors.Is(err, store.ErrClaimed) || errors.Is(err, store.ErrNotPending) || errors.Is(err, store.ErrNotClaimed) {
			errs[i] = nil // someone was faster
		}
	}
	return errors.Join(errs...)
}

// listed returns all commands with a status, by id, without their outputs.
func (r *Runner) listed(ctx context.Context, status store.Status) (map[string]store.Command, error) {
	found := map[string]store.Command{}
	page := store.Paging{Limit: store.MaxLimit}
	for {
		got, err := r.cfg.Store.Commands(ctx, store.CommandFilter{Status: status, Brief: true}, page)
		if err != nil {
			return nil, err
		}
		for _, c := range got.Items {
			found[c.ID] = c
		}
		if page.Cursor = got.Next; page.Cursor == "" {
			return found, nil
		}
	}
}

// inTheAir reports whether this process is asked about a command, or runs it.
func (r *Runner) inTheAir(id string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.flying[id] != nil
}

// neverBegun ends a command that the store has as begun here, and that this process was not told it may begin.
func (r *Runner) neverBegun(ctx context.Context, c store.Command) error {
	end := store.End{
		Status: store.Failed, Outcome: "error",
		Reason: "the store did not answer in time when the command was to begin, so it was not sent. Request it again",
	}
	c, err := r.cfg.Store.Finish(ctx, c.ID, r.cfg.ID, end)
	if err != nil {
		return err
	}
	r.cfg.Ended(c, "")
	a, err := r.cfg.Store.Approval(ctx, c.ID)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	d := policy.Decision{Verdict: policy.Allow, Class: policy.Class(c.Class), Rule: c.Rule}
	return r.noteNothing(ctx, c, "", d, policy.Answer{By: a.By, Proof: policy.Proof(a.Proof)}, end)
}

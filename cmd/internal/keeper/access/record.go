package access

import (
	"context"
	"net/http"
	"os"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
)

// Record is the sink of all sessions: each event says which account asked, and how far the keeper is apart from it. What
// comes after the request is told of the account that alone acts as its principal, and else of the keeper's own.
type Record struct {
	sink audit.Sink
	Own  *account
	*accounts
}

func NewRecord(sink audit.Sink) Record {
	return Record{sink, accountOf(os.Geteuid()), &accounts{by: map[string]*account{}, mixed: map[string]bool{}}}
}

func (r Record) fill(ctx context.Context, e audit.Event) audit.Event {
	who := r.Own
	if c := CallerOf(ctx); c != nil && c.Account != nil {
		who = c.Account
	} else if a := r.of(e.Principal); a != nil {
		who = a
	}
	uid := who.uid
	e.UID, e.Separation = &uid, who.Separation()
	return e
}

func (r Record) Record(ctx context.Context, e audit.Event) error {
	return r.sink.Record(ctx, r.fill(ctx, e))
}

func (r Record) RecordAll(ctx context.Context, events []audit.Event) error {
	filled := make([]audit.Event, len(events))
	for i, e := range events {
		filled[i] = r.fill(ctx, e)
	}
	return audit.RecordAll(ctx, r.sink, filled)
}

// Check returns why nothing could be recorded now; nil where nothing speaks against it.
func (r Record) Check(ctx context.Context) error { return audit.Check(ctx, r.sink) }

// Administered writes an entry about what changes who may do what. It is written before the change, or the change is taken
// back where it fails.
func (r Record) Administered(ctx context.Context, c *Caller, e audit.Event) error {
	e.Principal = c.Principal
	if err := r.Record(context.WithoutCancel(ctx), e); err != nil {
		return problem.New(http.StatusInternalServerError, "audit", "nothing was changed, because the audit log cannot be written: %v", err)
	}
	return nil
}

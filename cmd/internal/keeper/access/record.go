package access

import (
	"context"
	"os"

	"github.com/fairlead-ssh/fairlead/audit"
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

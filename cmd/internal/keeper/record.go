package keeper

import (
	"context"
	"os"

	"github.com/fairlead-ssh/fairlead/audit"
)

// record is the sink of all sessions: each event says which account asked, and how far the keeper is apart from it. What
// comes after the request is told of the account that alone acts as its principal, and else of the keeper's own.
type record struct {
	sink audit.Sink
	own  *account
	*accounts
}

func newRecord(sink audit.Sink) record {
	return record{sink, accountOf(os.Geteuid()), &accounts{by: map[string]*account{}, mixed: map[string]bool{}}}
}

func (r record) fill(ctx context.Context, e audit.Event) audit.Event {
	who := r.own
	if c := callerOf(ctx); c != nil && c.account != nil {
		who = c.account
	} else if a := r.of(e.Principal); a != nil {
		who = a
	}
	uid := who.uid
	e.UID, e.Separation = &uid, who.separation()
	return e
}

func (r record) Record(ctx context.Context, e audit.Event) error {
	return r.sink.Record(ctx, r.fill(ctx, e))
}

func (r record) RecordAll(ctx context.Context, events []audit.Event) error {
	filled := make([]audit.Event, len(events))
	for i, e := range events {
		filled[i] = r.fill(ctx, e)
	}
	return audit.RecordAll(ctx, r.sink, filled)
}

package keeper

import (
	"context"
	"os"

	"github.com/fairlead-ssh/fairlead/audit"
)

// separation says what the gate is worth: a program of the same account could run ssh itself.
const separation = "shared-uid"

// record is the sink of all sessions: each event says which account asked, and how far the keeper is apart from it.
type record struct {
	sink audit.Sink
	uid  int
}

func newRecord(sink audit.Sink) record { return record{sink, os.Getuid()} }

func (r record) fill(e audit.Event) audit.Event {
	uid := r.uid
	e.UID, e.Separation = &uid, separation
	return e
}

func (r record) Record(ctx context.Context, e audit.Event) error {
	return r.sink.Record(ctx, r.fill(e))
}

func (r record) RecordAll(ctx context.Context, events []audit.Event) error {
	filled := make([]audit.Event, len(events))
	for i, e := range events {
		filled[i] = r.fill(e)
	}
	return audit.RecordAll(ctx, r.sink, filled)
}

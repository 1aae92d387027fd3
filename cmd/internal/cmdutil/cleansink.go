package cmdutil

import (
	"context"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/session/redact"
)

// CleanSink takes what set knows to be secret out of the texts that go on record besides the command: why it was run,
// where, and what went wrong.
func CleanSink(sink audit.Sink, set *redact.Set) audit.Sink { return cleanSink{sink, set} }

type cleanSink struct {
	sink audit.Sink
	set  *redact.Set
}

// Record passes e on.
func (s cleanSink) Record(ctx context.Context, e audit.Event) error {
	return s.sink.Record(ctx, s.clean(e))
}

// RecordAll passes all on as one group, where that is possible.
func (s cleanSink) RecordAll(ctx context.Context, events []audit.Event) error {
	all := make([]audit.Event, len(events))
	for i, e := range events {
		all[i] = s.clean(e)
	}
	return audit.RecordAll(ctx, s.sink, all)
}

func (s cleanSink) clean(e audit.Event) audit.Event {
	set := s.set
	if e.Verdict != "allow" && len(e.Exact) > 0 { // it may never run, and teaches nothing
		set = set.With(string(e.Exact))
	}
	for _, text := range []*string{&e.Reason, &e.CWD, &e.ForSession, &e.Error.Message} {
		if *text != "" {
			*text, _ = set.String(*text, redact.Guarded)
		}
	}
	return e
}

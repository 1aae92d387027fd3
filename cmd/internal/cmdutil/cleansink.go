package cmdutil

import (
	"context"
	"crypto/sha256"
	"sync"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/session/redact"
)

// CleanSink takes what set knows to be secret out of the texts that go on record besides the command: why it was run,
// where, and what went wrong.
func CleanSink(sink audit.Sink, set *redact.Set) audit.Sink { return &cleanSink{sink: sink, set: set} }

type cleanSink struct {
	sink audit.Sink
	set  *redact.Set

	mu      sync.Mutex // guards what follows
	command [32]byte   // the hash of the last one, since a fleet runs the same one everywhere
	with    *redact.Set
}

// knowing returns a Set that knows what a command names. The command may never run, so nothing is learned from it.
func (s *cleanSink) knowing(command []byte) *redact.Set {
	sum := sha256.Sum256(command)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.with == nil || s.command != sum {
		s.command, s.with = sum, s.set.With(string(command))
	}
	return s.with
}

// Record passes e on.
func (s *cleanSink) Record(ctx context.Context, e audit.Event) error {
	return s.sink.Record(ctx, s.clean(e))
}

// RecordAll passes all on as one group, where that is possible.
func (s *cleanSink) RecordAll(ctx context.Context, events []audit.Event) error {
	all := make([]audit.Event, len(events))
	for i, e := range events {
		all[i] = s.clean(e)
	}
	return audit.RecordAll(ctx, s.sink, all)
}

// Check asks the sink behind.
func (s *cleanSink) Check(ctx context.Context) error { return audit.Check(ctx, s.sink) }

func (s *cleanSink) clean(e audit.Event) audit.Event {
	var with *redact.Set
	for _, text := range []*string{&e.Reason, &e.CWD, &e.ForSession, &e.Error.Message} {
		if *text == "" {
			continue
		}
		if with == nil && len(e.Exact) > 0 {
			with = s.knowing(e.Exact)
		}
		if with != nil {
			*text, _ = with.String(*text, redact.Guarded)
		}
		*text, _ = s.set.String(*text, redact.Guarded) // which may have learned more since
	}
	return e
}

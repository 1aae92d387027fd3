package audit

import (
	"context"
	"slices"
)

// Sink records events. Record may be called concurrently and returns once the event is as durable as the sink makes it;
// an error means that the event may be missing, and for a request that nothing may be sent. A Sink does not modify
// or retain what e points to. Contexts carry values here, not deadlines: cancelling one never loses the record, because
// the record of a cancellation matters most.
//
// A command yields two events with the same ID: a request, recorded before anything is sent, and a result. A request
// without a result is a fact and not a gap: the controller died, or the command is still running.
//
// Fail closed on the request, best effort on the result. When recording a request fails, nothing may be sent: every
// error of [File] on that path is [ErrUnavailable] and says which file, why, and what to do. When recording a result
// fails, the command has run already; the failure is reported to whoever waits, and the next request fails if the
// cause is still there. No event is dropped while success is reported.
type Sink interface {
	Record(ctx context.Context, e Event) error
}

// GroupSink is a Sink that can record many events as one group: one write, one place in the chain, one fsync.
type GroupSink interface {
	Sink
	RecordAll(ctx context.Context, events []Event) error
}

// RecordAll records events through s, as one group if s is a GroupSink and else one after the other up to the first
// error. After an error none of the deeds they announce may be done.
func RecordAll(ctx context.Context, s Sink, events []Event) error {
	if g, ok := s.(GroupSink); ok {
		return g.RecordAll(ctx, events)
	}
	for _, e := range events {
		if err := s.Record(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// As returns a Sink that records through s what who says, where an event does not say it itself: Principal, Client, UID
// and Separation.
func As(s Sink, who Event) GroupSink { return as{s, who} }

type as struct {
	s   Sink
	who Event
}

func (a as) fill(e *Event) {
	if e.Principal == "" {
		e.Principal = a.who.Principal
	}
	if e.Client == "" {
		e.Client = a.who.Client
	}
	if e.UID == nil {
		e.UID = a.who.UID
	}
	if e.Separation == "" {
		e.Separation = a.who.Separation
	}
}

func (a as) Record(ctx context.Context, e Event) error {
	a.fill(&e)
	return a.s.Record(ctx, e)
}

func (a as) RecordAll(ctx context.Context, events []Event) error {
	filled := slices.Clone(events) // the caller's are left alone
	for i := range filled {
		a.fill(&filled[i])
	}
	return RecordAll(ctx, a.s, filled)
}

// Check asks the Sink behind.
func (a as) Check(ctx context.Context) error { return Check(ctx, a.s) }

// SinkFunc makes a Sink of a function.
type SinkFunc func(ctx context.Context, e Event) error

// Record calls f.
func (f SinkFunc) Record(ctx context.Context, e Event) error { return f(ctx, e) }

// Discard is a Sink that keeps nothing, for tests and for an explicit opt-out.
type Discard struct{}

// Record does nothing.
func (Discard) Record(context.Context, Event) error { return nil }

// RecordAll does nothing.
func (Discard) RecordAll(context.Context, []Event) error { return nil }

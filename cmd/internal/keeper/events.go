package keeper

import (
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/approval"
)

// maxEvents is how many events are remembered for readers that come back, and how many a slow one may be behind.
const maxEvents = 512

// events passes on what happens. It waits for no reader.
type events struct {
	mu      sync.Mutex // guards what follows
	last    uint64     // number of the newest event
	kept    []numbered // the last maxEvents, the oldest first
	readers map[chan struct{}]struct{}
}

type numbered struct {
	n uint64
	wire.Event
}

func newEvents() *events { return &events{readers: map[chan struct{}]struct{}{}} }

func (e *events) add(ev wire.Event) {
	ev.Time = time.Now().UTC()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.last++
	if len(e.kept) == maxEvents {
		copy(e.kept, e.kept[1:])
		e.kept = e.kept[:maxEvents-1]
	}
	e.kept = append(e.kept, numbered{e.last, ev})
	for c := range e.readers {
		select {
		case c <- struct{}{}:
		default: // it is awake already
		}
	}
}

// done tells that a command has ended.
func (e *events) done(principal string, r *session.Result) {
	e.add(wire.Event{Kind: "done", ID: r.Exec, Principal: principal, Host: r.Host, Status: string(r.Status), ExitCode: r.ExitCode})
}

// asked tells what happened to an ask.
func (e *events) asked(a approval.Event) {
	e.add(wire.Event{Kind: string(a.Kind), ID: a.ID, Principal: a.Principal})
}

// subscribe returns a channel that gets something whenever there may be more; stop ends it.
func (e *events) subscribe() (more <-chan struct{}, stop func()) {
	c := make(chan struct{}, 1)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.readers[c] = struct{}{}
	return c, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.readers, c)
	}
}

// after returns the events after number n that are still known, and the number of the newest.
func (e *events) after(n uint64) ([]numbered, uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, ev := range e.kept {
		if ev.n > n {
			return append([]numbered(nil), e.kept[i:]...), e.last
		}
	}
	return nil, e.last
}

package events

import (
	"strings"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/approval"
)

// MaxEvents is how many events are remembered for readers that come back, and how many a slow one may be behind.
const MaxEvents = 512

// Events passes on what happens. It waits for no reader.
type Events struct {
	mu      sync.Mutex // guards what follows
	last    uint64     // number of the newest event
	kept    []numbered // the last maxEvents, the oldest first
	readers map[chan struct{}]struct{}
}

type numbered struct {
	N uint64
	wire.Event
}

func New() *Events { return &Events{readers: map[chan struct{}]struct{}{}} }

func (e *Events) Add(ev wire.Event) {
	ev.Time = time.Now().UTC()
	e.mu.Lock()
	defer e.mu.Unlock()
	e.last++
	if len(e.kept) == MaxEvents {
		copy(e.kept, e.kept[1:])
		e.kept = e.kept[:MaxEvents-1]
	}
	e.kept = append(e.kept, numbered{e.last, ev})
	for c := range e.readers {
		select {
		case c <- struct{}{}:
		default: // it is awake already
		}
	}
}

// Done tells that a command has ended.
func (e *Events) Done(principal string, r *session.Result) {
	e.Add(wire.Event{
		Kind: "done", ID: r.Exec, Exec: r.Exec, Approval: ApprovalOf(r.Decision.Approval), Principal: principal, Host: r.Host,
		Status: string(r.Status), ExitCode: r.ExitCode,
	})
}

// Asked tells what happened to an ask.
func (e *Events) Asked(a approval.Event) {
	exec, command := Parts(a.Exec)
	e.Add(wire.Event{Kind: string(a.Kind), ID: a.ID, Approval: a.ID, Exec: exec, Command: command, Principal: a.Principal})
}

// CommandPrefix begins the ids of commands in sandboxes.
const CommandPrefix = "c_"

// Parts tells the two things apart that an ask is about: an exec, or a command in a sandbox, which has none yet.
func Parts(id string) (exec, command string) {
	if strings.HasPrefix(id, CommandPrefix) {
		return "", id
	}
	return id, ""
}

// ApprovalOf is the ask behind a decision; "" where nobody was asked, or the operator has confirmed it.
func ApprovalOf(said string) string {
	if strings.HasPrefix(said, "a_") {
		return said
	}
	return ""
}

// Subscribe returns a channel that gets something whenever there may be more; stop ends it.
func (e *Events) Subscribe() (more <-chan struct{}, stop func()) {
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

// After returns the events after number n that are still known, the number of the newest, and whether some in between are
// not known any more.
func (e *Events) After(n uint64) (news []numbered, last uint64, missed bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	missed = len(e.kept) > 0 && e.kept[0].N > n+1
	for i, ev := range e.kept {
		if ev.N > n {
			return append([]numbered(nil), e.kept[i:]...), e.last, missed
		}
	}
	return nil, e.last, missed
}

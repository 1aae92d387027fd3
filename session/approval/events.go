package approval

import "github.com/fairlead-ssh/fairlead/session/policy"

// EventKind says what happened to a question.
type EventKind string

// What happens to questions.
const (
	Asked    EventKind = "asked"
	Approved EventKind = "approved"
	Rejected EventKind = "rejected"
	Expired  EventKind = "expired"
	Canceled EventKind = "canceled" // who asked has given it up
	Revoked  EventKind = "revoked"  // an approval for a session has ended; its ID is that of the approval
)

// Event tells of a question. It is a hint: what waits is what [Desk.List] says.
type Event struct {
	Kind      EventKind
	ID        string
	Principal string // who asked
	Exec      string // what for: its Question's Exec; "" for many hosts

	Question *policy.Question // of Asked: it may have been answered when this is read. Not to be changed
}

// Subscribe returns a channel of what happens from now on. The desk waits for no reader: what comes while buffer events
// (at least 1) wait already is lost to this one. stop ends it and closes the channel; it may be called again.
func (d *Desk) Subscribe(buffer int) (events <-chan Event, stop func()) {
	c := make(chan Event, max(buffer, 1))
	d.mu.Lock()
	defer d.mu.Unlock()
	d.readers[c] = struct{}{}
	return c, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if _, ok := d.readers[c]; ok {
			delete(d.readers, c)
			close(c)
		}
	}
}

// tell passes e on. d.mu is held.
func (d *Desk) tell(e Event) {
	for c := range d.readers {
		select {
		case c <- e:
		default: // it reads too slowly
		}
	}
}

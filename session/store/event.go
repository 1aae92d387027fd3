package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// Event is something that happened, for those who follow. Sequence numbers begin with 1, rise by 1 and become visible in
// their order, also with several keepers.
type Event struct {
	Seq       int64
	Kind      string // "command.pending", "command.running", … for each step of a command; "session.ended"; else the caller's
	Principal string // whom it concerns: who asked
	Payload   json.RawMessage
	Time      time.Time
}

// commandEvent is the payload of "command.*": where it stands, and no texts.
type commandEvent struct {
	ID          string   `json:"command_id"`
	Session     string   `json:"session_id,omitempty"`
	Sandbox     string   `json:"sandbox_id,omitempty"`
	Host        string   `json:"host,omitempty"`
	Hosts       []string `json:"hosts,omitempty"`
	Status      Status   `json:"status"`
	Outcome     string   `json:"outcome,omitempty"`
	RequestedBy string   `json:"requested_by"`
	ApprovedBy  string   `json:"approved_by,omitempty"`
}

// tell appends the event of a command's step, in the step's transaction.
func (s *Store) tell(q query, c Command) error {
	kind := string(c.Status)
	if c.Status == Approved && c.ClaimedBy != "" {
		kind = "running"
	}
	payload, err := json.Marshal(commandEvent{c.ID, c.Session, c.Sandbox, c.Host, c.Hosts, c.Status, c.Outcome, c.RequestedBy, c.ApprovedBy})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	_, err = s.append(q, "command."+kind, c.RequestedBy, payload)
	return err
}

// Append adds an event and returns its number. Steps of commands and ends of sessions add theirs themselves.
func (s *Store) Append(ctx context.Context, kind, principal string, payload json.RawMessage) (seq int64, err error) {
	if err := first(needed("the kind", kind), word("the principal", principal), s.room("the event", len(payload))); err != nil {
		return 0, err
	}
	err = s.write(ctx, "add an event", func(q query) error {
		seq, err = s.append(q, kind, principal, payload)
		return err
	})
	return seq, err
}

// append takes the next number. The counter's row stays locked until the transaction ends, so that nobody can see a
// higher number before this one.
func (s *Store) append(q query, kind, principal string, payload []byte) (seq int64, err error) {
	if err := q.row(`UPDATE counters SET value = value + 1 WHERE name = 'events' RETURNING value`).Scan(&seq); err != nil {
		return 0, err
	}
	if last := s.last.Load(); seq <= last {
		return 0, fmt.Errorf("%w: it has %d events, and had %d: an older copy is in its place", ErrReplaced, seq-1, last)
	}
	*q.top = max(*q.top, seq)
	if _, err := q.exec(`INSERT INTO events (seq, kind, principal, payload, created_at) VALUES (?, ?, ?, ?, ?)`, seq, kind, principal, bytesOf(string(payload)), s.now()); err != nil {
		return 0, err
	}
	if keep := int64(s.cfg.MaxEvents); keep > 0 && seq > keep {
		if _, err := q.exec(`DELETE FROM events WHERE seq <= ?`, seq-keep); err != nil {
			return 0, err
		}
	}
	return seq, nil
}

// Events is what Since found.
type Events struct {
	Items  []Event
	Last   int64 // number of the newest there is; more than that of the last item if there are more to read
	Missed bool  // events right after the number asked for are not kept any more, or it is a number of another store
}

// Since returns the events after a number, at most limit of them (0 means DefaultLimit, at most MaxLimit). It does not
// wait.
func (s *Store) Since(ctx context.Context, seq int64, limit int) (e Events, err error) {
	if limit <= 0 {
		limit = DefaultLimit
	}
	limit = min(limit, MaxLimit)
	err = s.read(ctx, "read events", func(q query) error {
		e = Events{}
		if err := q.row(`SELECT value FROM counters WHERE name = 'events'`).Scan(&e.Last); err != nil {
			return err
		}
		return q.each(func(r scanner) error {
			var v Event
			var at int64
			var payload []byte
			if err := r.Scan(&v.Seq, &v.Kind, &v.Principal, &payload, &at); err != nil {
				return err
			}
			if len(payload) > 0 {
				v.Payload = payload
			}
			v.Time = timeOf(at)
			e.Items = append(e.Items, v)
			return nil
		}, `SELECT seq, kind, principal, payload, created_at FROM events WHERE seq > ? ORDER BY seq LIMIT ?`, seq, int64(limit))
	})
	if err != nil {
		return Events{}, err
	}
	if len(e.Items) > 0 {
		e.Missed = e.Items[0].Seq > seq+1
		e.Last = max(e.Last, e.Items[len(e.Items)-1].Seq)
	} else {
		e.Missed = e.Last != seq
	}
	return e, nil
}

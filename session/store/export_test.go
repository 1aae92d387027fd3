package store

import (
	"context"
	"testing"
	"time"
)

// Exec runs a statement on the connection that writes.
func (s *Store) Exec(ctx context.Context, text string) error {
	_, err := s.db.writer.ExecContext(ctx, text)
	return err
}

// ParseCursor and Cursor are the door to the parser of outside bytes.
func ParseCursor(kind byte, text string) (at int64, id string, err error) {
	p, err := parseCursor(kind, text)
	return p.at, p.id, err
}

func Cursor(kind byte, at int64, id string) string { return cursor(kind, place{at, id}) }

// RewindEvents is as if an older copy was put in the place of the database.
func RewindEvents(t *testing.T, s *Store) {
	t.Helper()
	if err := s.Exec(t.Context(), `UPDATE counters SET value = value - 1 WHERE name = 'events'`); err != nil {
		t.Fatal(err)
	}
}

// SetClock is as if the database had said that it is now.
func SetClock(s *Store, now time.Time) { s.clock.set(now, time.Now(), time.Now()) }

// Said is as if the database had said so in answer to a question that began and ended then, and By is what time it is by that.
func Said(s *Store, said, began, ended time.Time) { s.clock.set(said, began, ended) }

func By(s *Store, at time.Time) time.Time { return s.clock.base.Add(at.Sub(s.clock.at)) }

package store

import (
	"context"
	"sync"
	"time"
)

// dbClock is the database's clock, which all keepers of a database share. Between two measurements it runs by this machine's
// monotonic clock: to set the time of a machine changes nothing.
type dbClock struct {
	mu   sync.Mutex // guards what follows
	base time.Time  // what the database said
	at   time.Time  // when, with the monotonic reading that counts
}

// exact is how long an answer may take to be taken at its word. A slower one only corrects what it proves to be wrong.
const exact = 100 * time.Millisecond

// Now is the time by which the store tells what is over: the database's own in Postgres, where the clocks of the keepers'
// machines may differ, and this machine's in a file. What others compare with the store's times has to come from it.
func (s *Store) Now() time.Time {
	if !s.asksTime() {
		return s.cfg.Now().Truncate(time.Microsecond)
	}
	s.clock.mu.Lock()
	defer s.clock.mu.Unlock()
	return s.clock.base.Add(time.Since(s.clock.at)).Truncate(time.Microsecond)
}

// asksTime reports whether the database says what time it is.
func (s *Store) asksTime() bool { return s.db.numbered && s.cfg.Now == nil }

// measure asks the database what time it is. A keeper does so with each sign of life: a machine that was suspended is late.
func (s *Store) measure(ctx context.Context) error {
	if !s.asksTime() {
		return nil
	}
	var micros int64
	var began time.Time
	err := s.read(ctx, "ask for the time", func(q query) error {
		began = time.Now()
		return q.row(`SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint`).Scan(&micros)
	})
	if err == nil {
		s.clock.set(timeOf(micros), began, time.Now())
	}
	return err
}

// set takes what the database said in answer to a question that began and ended then.
func (c *dbClock) set(said, began, ended time.Time) {
	took := ended.Sub(began)
	said = said.Add(took / 2)
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.base.Add(ended.Sub(c.at)); !c.at.IsZero() && took > exact && said.Sub(now).Abs() <= took {
		return
	}
	c.base, c.at = said, ended
}

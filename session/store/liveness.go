package store

import (
	"strings"
	"sync"
	"time"
)

// liveness measures how long other keepers have given no sign of life. Clocks of two machines are never compared: what counts is
// how long this Store, by its own clock, has seen the mark in a keeper's row stay as it was.
type liveness struct {
	mu  sync.Mutex // guards what follows
	was map[string]*silence
}

// silence is how long a keeper's mark has not changed.
type silence struct {
	mark   int64
	looked time.Time
	lasted time.Duration
}

// looksPerTTL is how many looks at least it takes to call a keeper dead. The time between two looks counts no more than its part:
// this process may have been stopped, or its clock set, just as the other's.
const looksPerTTL = 3

// look notes a keeper's mark and returns how long it has been silent.
func (l *liveness) look(keeper string, mark int64, now time.Time, ttl time.Duration) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	was := l.was[keeper]
	if was == nil || was.mark != mark {
		if l.was == nil {
			l.was = map[string]*silence{}
		}
		l.was[keeper] = &silence{mark: mark, looked: now}
		return 0
	}
	was.lasted += min(max(now.Sub(was.looked), 0), (ttl+looksPerTTL-1)/looksPerTTL)
	was.looked = now
	return was.lasted
}

// ticks is the clock by which silence is measured. It need not be right, but for the database's it must not be: an answer that
// came late would count as silence.
func (s *Store) ticks() time.Time {
	if s.cfg.Now == nil {
		return time.Now()
	}
	return s.cfg.Now()
}

// gone returns the keepers that are dead, and keeper itself, as parameters of a statement.
func (s *Store) gone(q query, keeper string) (marks string, args []any, err error) {
	args = []any{keeper}
	now := s.ticks()
	err = q.each(func(r scanner) error {
		var id string
		var mark int64
		if err := r.Scan(&id, &mark); err != nil {
			return err
		}
		if ttl := s.cfg.KeeperTTL; ttl > 0 && id != keeper && s.lives.look(id, mark, now, ttl) >= ttl {
			args = append(args, id)
		}
		return nil
	}, `SELECT keeper_id, seen_at FROM keepers WHERE keeper_id IN
		(SELECT claimed_by FROM commands WHERE ended_at = 0 UNION SELECT keeper_id FROM sessions WHERE ended_at = 0)`)
	return strings.Repeat("?, ", len(args)-1) + "?", args, err
}

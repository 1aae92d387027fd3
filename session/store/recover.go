package store

import (
	"context"
	"fmt"
)

// Recovered is what a start found, by ids.
type Recovered struct {
	Lost     []string // begun by a keeper that is dead: failed now, with the outcome "lost"
	Approved []string // approved and not begun, by any keeper's answer: may be begun, or withdrawn
	Pending  []string // waits on
	Sessions []string // sessions that ended with their keeper
}

// Recover is called once when a keeper starts. Keeper is an id that only one living process uses; the same after a
// restart is best, for then all that the one before had begun is told as lost at once. What other keepers had begun is
// lost only once this Store has seen no sign of life of them for KeeperTTL.
func (s *Store) Recover(ctx context.Context, keeper string) (r Recovered, err error) {
	if err := needed("the keeper", keeper); err != nil {
		return Recovered{}, err
	}
	if err := s.measure(ctx); err != nil {
		return Recovered{}, err
	}
	err = s.write(ctx, "recover", func(q query) error {
		r = Recovered{}
		now := s.now()
		if r.Lost, r.Sessions, err = s.bury(q, now, keeper); err != nil {
			return err
		}
		if err := q.alive(keeper, now); err != nil {
			return err
		}
		if r.Approved, err = q.strings(`SELECT command_id FROM commands WHERE status = ? AND claimed_by = '' ORDER BY created_at, command_id`, string(Approved)); err != nil {
			return err
		}
		r.Pending, err = q.strings(`SELECT command_id FROM commands WHERE status = ? ORDER BY created_at, command_id`, string(Pending))
		return err
	})
	return r, err
}

// Swept is what a sweep ended, by ids.
type Swept struct {
	Expired  []string
	Outlived []string // requests whose token has expired, and that had not begun
	Lost     []string
	Sessions []string
}

// Sweep is called by a keeper that lives, every few seconds: it is its sign of life, does what Expire does, ends what
// expired tokens had requested, tells what dead keepers had begun as lost, and forgets idempotency keys whose time is over.
func (s *Store) Sweep(ctx context.Context, keeper string) (w Swept, err error) {
	if err := needed("the keeper", keeper); err != nil {
		return Swept{}, err
	}
	if err := s.stillKnown(ctx); err != nil {
		return Swept{}, err
	}
	if err := s.measure(ctx); err != nil {
		return Swept{}, err
	}
	err = s.write(ctx, "sweep", func(q query) error {
		w = Swept{}
		now := s.now()
		if err := q.alive(keeper, now); err != nil {
			return err
		}
		if w.Lost, w.Sessions, err = s.bury(q, now, ""); err != nil {
			return err
		}
		if _, err := q.exec(`DELETE FROM request_keys WHERE expires_at <= ?`, now); err != nil {
			return err
		}
		if w.Expired, err = s.expire(q, now); err != nil {
			return err
		}
		w.Outlived, err = s.endOutlived(q, now)
		return err
	})
	return w, err
}

// Leave is called by a keeper that ends: its sessions end, and what it had begun and not finished is told as lost.
func (s *Store) Leave(ctx context.Context, keeper string) (w Swept, err error) {
	err = s.write(ctx, "leave", func(q query) error {
		w = Swept{}
		if w.Lost, w.Sessions, err = s.bury(q, s.now(), keeper); err != nil {
			return err
		}
		_, err := q.exec(`DELETE FROM keepers WHERE keeper_id = ?`, keeper)
		return err
	})
	return w, err
}

// Expire ends what waits, or was approved and not begun, past its time, and returns the ids.
func (s *Store) Expire(ctx context.Context) (ids []string, err error) {
	err = s.write(ctx, "expire", func(q query) error {
		ids, err = s.expire(q, s.now())
		return err
	})
	return ids, err
}

func (s *Store) expire(q query, now int64) ([]string, error) {
	ids, err := q.strings(`SELECT command_id FROM commands WHERE ended_at = 0 AND claimed_by = '' AND expires_at > 0 AND expires_at <= ?
		ORDER BY command_id@LOCK@`, now)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if _, err := s.reject(q, id, OutcomeExpired, "it was not answered in time", now); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// endOutlived ends what was requested with a token that has expired, and has not begun: it could not be approved.
func (s *Store) endOutlived(q query, now int64) ([]string, error) {
	ids, err := q.strings(`SELECT command_id FROM commands WHERE ended_at = 0 AND claimed_by = '' AND token_id IN
		(SELECT token_id FROM tokens WHERE expires_at > 0 AND expires_at <= ?) ORDER BY command_id@LOCK@`, now)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if _, err := s.reject(q, id, OutcomeDenied, "the token that it was requested with has expired", now); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// alive notes a keeper's sign of life: seen_at changes, also by a clock that stands still.
func (q query) alive(keeper string, now int64) error {
	_, err := q.exec(`INSERT INTO keepers (keeper_id, started_at, seen_at) VALUES (?, ?, ?)
		ON CONFLICT (keeper_id) DO UPDATE SET seen_at =
		CASE WHEN keepers.seen_at = excluded.seen_at THEN excluded.seen_at + 1 ELSE excluded.seen_at END`, keeper, now, now)
	return err
}

// bury ends what dead keepers, and this one, have left: commands they had begun, and their sessions.
func (s *Store) bury(q query, now int64, keeper string) (lost, sessions []string, err error) {
	gone, args, err := s.gone(q, keeper)
	if err != nil {
		return nil, nil, err
	}
	lost, err = q.strings(`SELECT command_id FROM commands c WHERE c.ended_at = 0 AND c.claimed_by <> '' AND (c.claimed_by IN (`+gone+`) OR NOT EXISTS
		(SELECT 1 FROM keepers k WHERE k.keeper_id = c.claimed_by)) ORDER BY command_id@LOCK@`, args...)
	if err != nil {
		return nil, nil, err
	}
	for _, id := range lost {
		c, err := q.command(id, false)
		if err != nil {
			return nil, nil, err
		}
		why := fmt.Sprintf("keeper %s ended while it ran: its outcome is unknown", c.ClaimedBy)
		if err := q.one(ErrNotClaimed, `UPDATE commands SET status = ?, outcome = ?, reason = ?, sealed = NULL, ended_at = ?, updated_at = ?
			WHERE command_id = ? AND ended_at = 0`, string(Failed), OutcomeLost, bytesOf(why), now, now, id); err != nil {
			return nil, nil, err
		}
		if c, err = q.command(id, false); err != nil {
			return nil, nil, err
		}
		if err := s.tell(q, c); err != nil {
			return nil, nil, err
		}
	}
	sessions, err = q.strings(`SELECT session_id FROM sessions s WHERE s.ended_at = 0 AND (s.keeper_id IN (`+gone+`) OR NOT EXISTS
		(SELECT 1 FROM keepers k WHERE k.keeper_id = s.keeper_id)) ORDER BY session_id@LOCK@`, args...)
	if err != nil {
		return nil, nil, err
	}
	for _, id := range sessions {
		if err := s.endSession(q, id, "its keeper ended", now); err != nil {
			return nil, nil, err
		}
	}
	return lost, sessions, nil
}

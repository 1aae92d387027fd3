package store

import (
	"context"
	"encoding/json"
	"fmt"
)

// Begin claims an approved command for a keeper, and returns it with its exact bytes, which are wiped in the same step.
// Of all that try, in any number of processes, one gets it. The claim is on disk when Begin returns; after an error the
// command must not be run. It returns an ErrClaimed where somebody was faster, an ErrNotApproved where it waits for an
// answer or has ended, an ErrExpired where its time is over, and an ErrSealKey where another keeper's key sealed it: then
// nothing is claimed.
func (s *Store) Begin(ctx context.Context, id, keeper string) (c Command, exact []byte, err error) {
	if err := needed("the keeper", keeper); err != nil {
		return Command{}, nil, err
	}
	err = s.write(ctx, "begin", func(q query) error {
		now := s.now()
		if c, err = q.command(id, true); err != nil {
			return err
		}
		switch {
		case c.ClaimedBy != "":
			return fmt.Errorf("%w: %s", ErrClaimed, c.state())
		case c.Status != Approved:
			return fmt.Errorf("%w: %s", ErrNotApproved, c.state())
		case c.overdue(now):
			return fmt.Errorf("%w: command %s was approved, and not begun in time", ErrExpired, id)
		}
		if exact, err = s.exact(q, id); err != nil {
			return err
		}
		if err := q.alive(keeper, now); err != nil {
			return err
		}
		err := q.one(ErrClaimed, `UPDATE commands SET claimed_by = ?, claimed_at = ?, sealed = NULL, updated_at = ?
			WHERE command_id = ? AND status = ? AND claimed_by = ''`, keeper, now, now, id, string(Approved))
		if err != nil {
			return err
		}
		if _, err := q.exec(`UPDATE approvals SET sealed = NULL WHERE command_id = ?`, id); err != nil {
			return err
		}
		if c, err = q.command(id, false); err != nil {
			return err
		}
		return s.tell(q, c)
	})
	if err != nil {
		return Command{}, nil, err
	}
	return c, exact, nil
}

// Exact returns the exact bytes of a command that waits or was not begun, to show them to an approver; else an
// ErrNotPending.
func (s *Store) Exact(ctx context.Context, id string) (exact []byte, err error) {
	err = s.read(ctx, "read exact bytes", func(q query) error {
		if exact, err = s.exact(q, id); err == nil && exact == nil {
			return fmt.Errorf("%w: the exact bytes of command %s are not kept any more", ErrNotPending, id)
		}
		return err
	})
	return exact, err
}

// exact opens the sealed bytes of a command; nil where there are none.
func (s *Store) exact(q query, id string) ([]byte, error) {
	var sealed []byte
	if err := q.row(`SELECT sealed FROM commands WHERE command_id = ?`, id).Scan(&sealed); err != nil {
		return nil, found(err, "command", id)
	}
	if sealed == nil {
		return nil, nil
	}
	return s.seal.open("command "+id, sealed)
}

// Enter notes in which session a command that keeper has begun runs, and what holds it in its sandbox there. After an
// error the command must not be run: an ErrNotClaimed says that it was told as lost meanwhile.
func (s *Store) Enter(ctx context.Context, id, keeper, session, enforcement string) error {
	if err := first(needed("the keeper", keeper), needed("the session", session), word("the enforcement", enforcement)); err != nil {
		return err
	}
	return s.write(ctx, "note a session", func(q query) error {
		c, err := q.command(id, true)
		if err != nil {
			return err
		}
		return q.one(fmt.Errorf("%w: %s", ErrNotClaimed, c.state()), `UPDATE commands SET session_id = ?, enforcement = ?, updated_at = ?
			WHERE command_id = ? AND status = ? AND claimed_by = ?`, session, enforcement, s.now(), id, string(Approved), keeper)
	})
}

// End is how a command ended.
type End struct {
	Status               Status // Executed or Failed; Rejected where it came to nothing, with the outcome denied or expired
	Outcome              string // the Result's status
	Reason               string // "" leaves the record's
	Session              string // that it ran in; "" leaves the record's
	ExitCode             *int
	Stdout, Stderr       string
	StdoutSum, StderrSum string          // of the whole outputs, as PutOutput returned them or the record tells; "" for none
	Exec                 json.RawMessage // the Result
}

// Finish records the end of a command that keeper has begun, also of one that other keepers took for lost meanwhile: it knows
// better. Else it returns an ErrNotClaimed.
func (s *Store) Finish(ctx context.Context, id, keeper string, e End) (c Command, err error) {
	refused := e.Status == Rejected && e.ExitCode == nil && (e.Outcome == OutcomeDenied || e.Outcome == OutcomeExpired)
	if e.Status != Executed && e.Status != Failed && !refused {
		return Command{}, fmt.Errorf("%w: no command that was begun ends as %q (%s)", ErrInvalid, e.Status, e.Outcome)
	}
	if err := first(needed("the keeper", keeper), needed("the outcome", e.Outcome), word("the session", e.Session), word("a hash", e.StdoutSum), word("a hash", e.StderrSum),
		s.room("the result", len(e.Stdout), len(e.Stderr), len(e.Exec), len(e.Reason))); err != nil {
		return Command{}, err
	}
	var exit any
	if e.ExitCode != nil {
		exit = int64(*e.ExitCode)
	}
	err = s.write(ctx, "finish", func(q query) error {
		now := s.now()
		if c, err = q.command(id, true); err != nil {
			return err
		}
		mistaken := c.Status == Failed && c.Outcome == OutcomeLost && c.Finalized.IsZero()
		if c.Status != Approved && !mistaken || c.ClaimedBy != keeper {
			return fmt.Errorf("%w: %s", ErrNotClaimed, c.state())
		}
		reason, session := or(e.Reason, c.Reason), or(e.Session, c.Session)
		if mistaken { // it says that its keeper ended
			reason = e.Reason
		}
		err := q.one(ErrNotClaimed, `UPDATE commands SET session_id = ?, status = ?, outcome = ?, reason = ?, exit_code = ?, stdout = ?, stderr = ?, stdout_sum = ?, stderr_sum = ?,
			exec_result = ?, sealed = NULL, ended_at = ?, updated_at = ? WHERE command_id = ? AND status = ? AND claimed_by = ?`,
			session, string(e.Status), e.Outcome, bytesOf(reason), exit, bytesOf(e.Stdout), bytesOf(e.Stderr), e.StdoutSum, e.StderrSum,
			bytesOf(string(e.Exec)), now, now, id, string(c.Status), keeper)
		if err != nil {
			return err
		}
		if c, err = q.command(id, false); err != nil {
			return err
		}
		return s.tell(q, c)
	})
	if err != nil {
		return Command{}, err
	}
	return c, nil
}

// Finalize freezes an ended command. A second call changes nothing and returns the same record. It returns an
// ErrNotEnded for one that has not ended.
func (s *Store) Finalize(ctx context.Context, id string) (c Command, err error) {
	err = s.write(ctx, "finalize", func(q query) error {
		if c, err = q.command(id, true); err != nil {
			return err
		}
		switch {
		case !c.Status.Ended():
			return fmt.Errorf("%w: %s", ErrNotEnded, c.state())
		case !c.Finalized.IsZero():
			return nil
		}
		now := s.now()
		if err := q.one(ErrNotEnded, `UPDATE commands SET finalized_at = ?, updated_at = ? WHERE command_id = ?`, now, now, id); err != nil {
			return err
		}
		c, err = q.command(id, false)
		return err
	})
	if err != nil {
		return Command{}, err
	}
	return c, nil
}

// Command returns a record.
func (s *Store) Command(ctx context.Context, id string) (c Command, err error) {
	err = s.read(ctx, "read a command", func(q query) error {
		c, err = q.command(id, false)
		return err
	})
	return c, err
}

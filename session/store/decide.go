package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// Decision is a person's answer to a pending command.
type Decision struct {
	Approve     bool
	By          string // who answers: "operator/ada"
	Proof       string // how that is known: "touch", "passphrase", "unproven"
	Reason      string
	Digest      string // of the document that was shown; see Digest
	Fingerprint string // of the key that signed; "" for none
	Signature   []byte // in OpenSSH's SSHSIG format; nil for none
}

// Decide records an answer, once: of several at the same time one counts. It returns an ErrNotPending where the command
// is no longer pending, an ErrExpired where its time is over (a later Expire ends it), an ErrMismatch where something else
// was shown, and an ErrForbidden where who asked, or an agent, would approve. It does not look at Proof and Signature: callers do.
func (s *Store) Decide(ctx context.Context, id string, d Decision) (c Command, err error) {
	if err := first(needed("who answers", d.By), word("the proof", d.Proof), word("the key's fingerprint", d.Fingerprint),
		s.room("the answer", len(d.Reason), len(d.Signature))); err != nil {
		return Command{}, err
	}
	err = s.write(ctx, "decide", func(q query) error {
		now := s.now()
		if c, err = q.command(id, true); err != nil {
			return err
		}
		var digest string
		switch {
		case c.Status != Pending:
			return fmt.Errorf("%w: %s", ErrNotPending, c.state())
		case c.overdue(now):
			return fmt.Errorf("%w: command %s was not answered in time", ErrExpired, id)
		case d.Approve && d.By == c.RequestedBy:
			return fmt.Errorf("%w: command %s was asked for by %s", ErrForbidden, id, d.By)
		case d.Approve && strings.HasPrefix(d.By, "agent/"):
			return fmt.Errorf("%w: %s is an agent", ErrForbidden, d.By)
		}
		if d.Approve {
			if err := q.stillGood(c, now); err != nil {
				return err
			}
		}
		if err := q.row(`SELECT digest FROM approvals WHERE command_id = ?`, id).Scan(&digest); err != nil {
			return found(err, "approval of command", id)
		}
		if d.Digest != digest {
			return fmt.Errorf("%w: look at command %s again", ErrMismatch, id)
		}
		word := Rejected
		if d.Approve {
			word = Approved
		}
		if err := q.one(ErrNotPending, `UPDATE approvals SET decision = ?, decided_by = ?, proof = ?, reason = ?, fingerprint = ?, signature = ?, decided_at = ?
			WHERE command_id = ? AND decided_at = 0`, string(word), d.By, d.Proof, bytesOf(d.Reason), d.Fingerprint, bytesOf(string(d.Signature)), now, id); err != nil {
			return err
		}
		if !d.Approve {
			c, err = s.reject(q, id, OutcomeDenied, d.Reason, now)
			return err
		}
		if err := q.one(ErrNotPending, `UPDATE commands SET status = ?, approved_by = ?, proof = ?, updated_at = ? WHERE command_id = ? AND status = ?`,
			string(Approved), d.By, d.Proof, now, id, string(Pending)); err != nil {
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

// stillGood refuses an approval of what was requested with a token that has been revoked or has expired since.
func (q query) stillGood(c Command, now int64) error {
	if c.Token == "" {
		return nil
	}
	t, err := scanToken(q.row(`SELECT `+tokenColumns+` FROM tokens WHERE token_id = ?`, c.Token))
	switch {
	case errors.Is(err, sql.ErrNoRows), err == nil && !t.Revoked.IsZero():
		return fmt.Errorf("%w: the token that command %s was requested with was revoked", ErrForbidden, c.ID)
	case err != nil:
		return err
	case !t.Expires.IsZero() && micros(t.Expires) <= now:
		return fmt.Errorf("%w: the token that command %s was requested with has expired", ErrForbidden, c.ID)
	}
	return nil
}

// Withdraw ends a command that was not begun, as rejected with this outcome: its asker gave up ("canceled"), its session
// closed, its host is another one now. It returns an ErrClaimed for one that was begun, an ErrNotPending for one that
// has ended.
func (s *Store) Withdraw(ctx context.Context, id, outcome, reason string) (c Command, err error) {
	if err := first(needed("the outcome", outcome), s.room("the reason", len(reason))); err != nil {
		return Command{}, err
	}
	err = s.write(ctx, "withdraw", func(q query) error {
		if c, err = q.command(id, true); err != nil {
			return err
		}
		switch {
		case c.Status.Ended():
			return fmt.Errorf("%w: %s", ErrNotPending, c.state())
		case c.ClaimedBy != "":
			return fmt.Errorf("%w: %s", ErrClaimed, c.state())
		}
		c, err = s.reject(q, id, outcome, reason, s.now())
		return err
	})
	if err != nil {
		return Command{}, err
	}
	return c, nil
}

// reject ends a command that never ran and that this transaction has locked, wipes its exact bytes, and tells.
func (s *Store) reject(q query, id, outcome, reason string, now int64) (Command, error) {
	err := q.one(ErrNotPending, `UPDATE commands SET status = ?, outcome = ?, reason = ?, sealed = NULL, ended_at = ?, updated_at = ?
		WHERE command_id = ? AND ended_at = 0 AND claimed_by = ''`, string(Rejected), outcome, bytesOf(reason), now, now, id)
	if err != nil {
		return Command{}, err
	}
	if _, err := q.exec(`UPDATE approvals SET sealed = NULL WHERE command_id = ?`, id); err != nil {
		return Command{}, err
	}
	c, err := q.command(id, false)
	if err != nil {
		return Command{}, err
	}
	return c, s.tell(q, c)
}

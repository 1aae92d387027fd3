package store

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead-ssh/fairlead/session/id"
)

// What proof an approver's key gives.
const (
	KindPassphrase = "passphrase"
	KindTouch      = "touch"
)

// Approver is an enrolled key of somebody who may approve.
type Approver struct {
	ID          string // "k_…"
	Principal   string
	PublicKey   string // a line as in authorized_keys
	Fingerprint string // "SHA256:…"; unique
	Kind        string // KindPassphrase or KindTouch
	EnrolledBy  string
	Enrolled    time.Time
	Revoked     time.Time // zero: not revoked
}

const approverColumns = `approver_id, principal, public_key, fingerprint, kind, enrolled_by, enrolled_at, revoked_at`

func scanApprover(row scanner) (a Approver, err error) {
	var enrolled, revoked int64
	err = row.Scan(&a.ID, &a.Principal, &a.PublicKey, &a.Fingerprint, &a.Kind, &a.EnrolledBy, &enrolled, &revoked)
	a.Enrolled, a.Revoked = timeOf(enrolled), timeOf(revoked)
	return a, err
}

// Enroll keeps a key. It returns an ErrExists for a key that is or was enrolled: a revoked one stays revoked.
func (s *Store) Enroll(ctx context.Context, a Approver) (Approver, error) {
	a.ID = or(a.ID, id.New("k_"))
	err := first(needed("the id", a.ID), needed("the principal", a.Principal), needed("the fingerprint", a.Fingerprint), word("who enrolls", a.EnrolledBy),
		s.room("the key", len(a.PublicKey)))
	switch {
	case err != nil:
		return Approver{}, err
	case a.PublicKey == "":
		return Approver{}, fmt.Errorf("%w: the public key is missing", ErrInvalid)
	case a.Kind != KindPassphrase && a.Kind != KindTouch:
		return Approver{}, fmt.Errorf("%w: a key of kind %q", ErrInvalid, a.Kind)
	}
	err = s.write(ctx, "enroll a key", func(q query) error {
		now := s.now()
		a.Enrolled, a.Revoked = timeOf(now), time.Time{}
		_, err := q.exec(`INSERT INTO approvers (approver_id, principal, public_key, fingerprint, kind, enrolled_by, enrolled_at, revoked_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, 0)`, a.ID, a.Principal, bytesOf(a.PublicKey), a.Fingerprint, a.Kind, a.EnrolledBy, now)
		return err
	})
	if err != nil {
		return Approver{}, err
	}
	return a, nil
}

// RevokeApprover revokes a key, by id or fingerprint. It may be called again.
func (s *Store) RevokeApprover(ctx context.Context, id string) (a Approver, err error) {
	err = s.write(ctx, "revoke a key", func(q query) error {
		if a, err = q.approver(id); err != nil || !a.Revoked.IsZero() {
			return err
		}
		now := s.now()
		a.Revoked = timeOf(now)
		_, err := q.exec(`UPDATE approvers SET revoked_at = ? WHERE approver_id = ? AND revoked_at = 0`, now, a.ID)
		return err
	})
	return a, err
}

// Approver returns a key, by id or fingerprint, revoked or not.
func (s *Store) Approver(ctx context.Context, id string) (a Approver, err error) {
	err = s.read(ctx, "read a key", func(q query) error {
		a, err = q.approver(id)
		return err
	})
	return a, err
}

func (q query) approver(id string) (Approver, error) {
	a, err := scanApprover(q.row(`SELECT `+approverColumns+` FROM approvers WHERE approver_id = ? OR fingerprint = ?`, id, id))
	return a, found(err, "approver", id)
}

// Approvers returns all keys, in the order of their enrollment; with all also the revoked ones.
func (s *Store) Approvers(ctx context.Context, all bool) (keys []Approver, err error) {
	err = s.read(ctx, "list keys", func(q query) error {
		keys = nil
		return q.each(func(r scanner) error {
			a, err := scanApprover(r)
			if err == nil && (all || a.Revoked.IsZero()) {
				keys = append(keys, a)
			}
			return err
		}, `SELECT `+approverColumns+` FROM approvers ORDER BY enrolled_at, approver_id`)
	})
	return keys, err
}

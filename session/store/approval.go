package store

import (
	"context"
	"time"
)

// Approval is the question that a pending command asked, and its answer.
type Approval struct {
	ID          string // "a_…"
	Command     string // its id
	Digest      string // of the document
	Document    []byte // what it is bound to; nil once the command was begun or has ended
	Decision    Status // Approved, Rejected, or "" while nobody has answered
	By          string
	Proof       string
	Reason      string
	Fingerprint string // of the key that signed
	Signature   []byte // over the document's SHA-256, in OpenSSH's SSHSIG format
	Asked       time.Time
	Decided     time.Time // zero: not yet
}

const approvalColumns = `approval_id, command_id, digest, sealed, decision, decided_by, proof, reason, fingerprint, signature, asked_at, decided_at`

// Approval returns the approval with this id, or of the command with this id.
func (s *Store) Approval(ctx context.Context, id string) (a Approval, err error) {
	err = s.read(ctx, "read an approval", func(q query) error {
		var sealed []byte
		var asked, decided int64
		err := q.row(`SELECT `+approvalColumns+` FROM approvals WHERE approval_id = ? OR command_id = ?`, id, id).
			Scan(&a.ID, &a.Command, &a.Digest, &sealed, &a.Decision, &a.By, &a.Proof, &a.Reason, &a.Fingerprint, &a.Signature, &asked, &decided)
		if err != nil {
			return found(err, "approval", id)
		}
		a.Asked, a.Decided, a.Document = timeOf(asked), timeOf(decided), nil
		if len(a.Signature) == 0 {
			a.Signature = nil
		}
		if sealed != nil {
			a.Document, err = s.seal.open("document "+a.Command, sealed)
		}
		return err
	})
	if err != nil {
		return Approval{}, err
	}
	return a, nil
}

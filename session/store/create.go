package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/fairlead-ssh/fairlead/session/id"
)

// NewCommand is what Create makes a record of.
type NewCommand struct {
	// Command is the record. ID may be empty, for a new one. Status is Pending, Approved (policy allows it, and
	// Begin or Claim comes next) or Rejected, with Outcome and Reason. Times are set by the store, but for Expires.
	Command

	// Exact is the command byte for byte: kept sealed while the command is pending or approved and not begun.
	Exact []byte

	// Document is what an approval of a Pending one is bound to, kept sealed as long as Exact; ApprovalID may be
	// empty, for a new one.
	Document   []byte
	ApprovalID string

	// Claim is the keeper that begins an Approved one in the same step; "" leaves that to Begin.
	Claim string

	// Key is the asker's idempotency key, if Key.Key is not empty. Principal and Target are set by Create.
	Key Key
}

// Digest returns the digest of a document, as approvals are bound to it: "sha256:" and 64 hexadecimal digits.
func Digest(document []byte) string {
	sum := sha256.Sum256(document)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Create keeps a new command. With an idempotency key that was used for the same request it returns that one's record,
// whatever it is by now, and made is false; for another request it returns an ErrKeyReused. It returns an ErrNotFound
// for a sandbox that does not exist, and an ErrInactive for one in which nothing may run now.
func (s *Store) Create(ctx context.Context, n NewCommand) (c Command, made bool, err error) {
	if err := s.check(&n); err != nil {
		return Command{}, false, err
	}
	hosts, fleet := n.Hosts, true
	if n.Host != "" {
		hosts, fleet = []string{n.Host}, false
	}
	var sealed, document []byte
	if !n.Status.Ended() && n.Claim == "" {
		if n.Exact != nil {
			sealed = s.seal.close("command "+n.ID, n.Exact)
		}
		if n.Status == Pending {
			document = s.seal.close("document "+n.ID, n.Document)
		}
	}
	err = s.write(ctx, "keep a command", func(q query) error {
		now := s.now()
		made = true
		if n.Key.Key != "" {
			n.Key.Principal, n.Key.Target = n.RequestedBy, n.ID
			claim, err := s.claimKey(q, n.Key, now)
			if err != nil {
				return err
			}
			if claim.State == KeySame {
				made = false
				c, err = q.command(claim.Target, false)
				return err
			}
			if claim.State == KeyConflict {
				return fmt.Errorf("%w: for %s", ErrKeyReused, claim.Target)
			}
		}
		if err := q.sandboxHolds(n.Sandbox, n.Status); err != nil {
			return err
		}
		var claimed, ended int64
		if n.Claim != "" {
			claimed = now
			if err := q.alive(n.Claim, now); err != nil {
				return err
			}
		}
		if n.Status.Ended() {
			ended = now
		}
		_, err := q.exec(`INSERT INTO commands (command_id, session_id, sandbox_id, hosts, fleet, command, cwd, asked_why, enforcement, status, verdict,
			class, rule, reason, outcome, requested_by, approved_by, proof, exit_code, stdout, stderr, stdout_sum, stderr_sum, exec_result, sealed,
			claimed_by, claimed_at, expires_at, created_at, updated_at, ended_at, finalized_at, purged_at, token_id)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, ?, ?, '', '', ?, ?, ?, ?, ?, ?, ?, ?, 0, 0, ?)`,
			n.ID, n.Session, nullable(n.Sandbox), listOf(hosts), number(fleet), bytesOf(n.Command.Command), bytesOf(n.Cwd), bytesOf(n.AskReason), n.Enforcement, string(n.Status), n.Verdict,
			n.Class, n.Rule, bytesOf(n.Reason), n.Outcome, n.RequestedBy, n.ApprovedBy, n.Proof, []byte{}, []byte{}, []byte{}, orNull(sealed),
			n.Claim, claimed, micros(n.Expires), now, now, ended, n.Token)
		if err != nil {
			return err
		}
		for _, h := range hosts {
			if _, err := q.exec(`INSERT INTO command_hosts (command_id, host) VALUES (?, ?) ON CONFLICT DO NOTHING`, n.ID, h); err != nil {
				return err
			}
		}
		if n.Status == Pending {
			_, err := q.exec(`INSERT INTO approvals (approval_id, command_id, digest, sealed, decision, decided_by, proof, reason, fingerprint, signature, asked_at, decided_at)
				VALUES (?, ?, ?, ?, '', '', '', ?, '', ?, ?, 0)`, or(n.ApprovalID, id.New("a_")), n.ID, Digest(n.Document), document, []byte{}, []byte{}, now)
			if err != nil {
				return err
			}
		}
		if c, err = q.command(n.ID, false); err != nil {
			return err
		}
		return s.tell(q, c)
	})
	if err != nil {
		return Command{}, false, err
	}
	return c, made, nil
}

// check refuses what no record can be made of, and fills in an ID.
func (s *Store) check(n *NewCommand) error {
	n.ID = or(n.ID, id.New("c_"))
	err := first(needed("the id", n.ID), word("the session", n.Session), word("the sandbox", n.Sandbox), word("the host", n.Host),
		needed("who asks", n.RequestedBy), word("who approved", n.ApprovedBy), word("the proof", n.Proof), word("the verdict", n.Verdict),
		word("the class", n.Class), word("the rule", n.Rule), word("the enforcement", n.Enforcement), word("the outcome", n.Outcome), word("the keeper", n.Claim),
		word("the approval's id", n.ApprovalID), word("the idempotency key", n.Key.Key),
		s.room("the command", len(n.Command.Command), len(n.Cwd), len(n.AskReason), len(n.Reason), len(n.Exact), len(n.Document)))
	for _, h := range n.Hosts {
		err = first(err, needed("a host", h))
	}
	switch {
	case err != nil:
		return err
	case (n.Host == "") == (len(n.Hosts) == 0):
		return fmt.Errorf("%w: a command needs a host or a list of hosts", ErrInvalid)
	case n.Status != Pending && n.Status != Approved && n.Status != Rejected:
		return fmt.Errorf("%w: no command begins as %q", ErrInvalid, n.Status)
	case n.Claim != "" && n.Status != Approved:
		return fmt.Errorf("%w: only an approved command can be begun", ErrInvalid)
	case n.Status == Pending && (n.Exact == nil || n.Document == nil):
		return fmt.Errorf("%w: a pending command needs its exact bytes and the document of its approval", ErrInvalid)
	case n.Status == Rejected && n.Outcome == "":
		n.Outcome = OutcomeDenied
	case s.seal == nil && n.Status != Rejected && n.Claim == "" && n.Exact != nil:
		return fmt.Errorf("%w: a command cannot wait without a key: set one", ErrSealKey)
	}
	return nil
}

// room refuses texts over the limit.
func (s *Store) room(what string, sizes ...int) error {
	for _, n := range sizes {
		if s.cfg.MaxOutput > 0 && n > s.cfg.MaxOutput {
			return fmt.Errorf("%w: %s has %d bytes; at most %d are kept", ErrTooLarge, what, n, s.cfg.MaxOutput)
		}
	}
	return nil
}

// nullable is a reference, which may be to nothing.
func nullable(id string) any {
	if id == "" {
		return nil
	}
	return id
}

// orNull keeps nil apart from no bytes.
func orNull(b []byte) any {
	if b == nil {
		return nil
	}
	return b
}

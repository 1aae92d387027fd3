package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
)

// Key is an idempotency key that a principal sent with a request.
type Key struct {
	Principal string
	Key       string
	Request   []byte // the request in a form that is equal for equal requests; only its SHA-256 is kept
	Target    string // the id that the request will have: of a command, an exec, a job
}

// KeyState says what a key is to a request.
type KeyState string

// The states of a key.
const (
	KeyNew      KeyState = "new"      // it is this request's from now on
	KeySame     KeyState = "same"     // this request was made before: Target says what came of it
	KeyConflict KeyState = "conflict" // it was used for another request
)

// KeyClaim is the answer to ClaimKey. Target is that of who was first.
type KeyClaim struct {
	State  KeyState
	Target string
}

// ClaimKey takes a key for a request, once, for KeyTTL. Of several at the same time one gets KeyNew.
func (s *Store) ClaimKey(ctx context.Context, k Key) (claim KeyClaim, err error) {
	err = s.write(ctx, "claim an idempotency key", func(q query) error {
		claim, err = s.claimKey(q, k, s.now())
		return err
	})
	return claim, err
}

func (s *Store) claimKey(q query, k Key, now int64) (KeyClaim, error) {
	if err := first(needed("the principal", k.Principal), needed("the idempotency key", k.Key), needed("the key's target", k.Target)); err != nil {
		return KeyClaim{}, err
	}
	end := int64(1<<63 - 1)
	if s.cfg.KeyTTL > 0 {
		end = now + s.cfg.KeyTTL.Microseconds()
	}
	sum := sha256.Sum256(k.Request)
	n, err := q.exec(`INSERT INTO request_keys (principal, request_key, request_sha256, target_id, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)
		ON CONFLICT (principal, request_key) DO UPDATE SET request_sha256 = excluded.request_sha256, target_id = excluded.target_id,
		created_at = excluded.created_at, expires_at = excluded.expires_at WHERE request_keys.expires_at <= excluded.created_at`,
		k.Principal, k.Key, sum[:], k.Target, now, end)
	switch {
	case err != nil:
		return KeyClaim{}, err
	case n == 1:
		return KeyClaim{KeyNew, k.Target}, nil
	}
	var have []byte
	var target string
	err = q.row(`SELECT request_sha256, target_id FROM request_keys WHERE principal = ? AND request_key = ?`, k.Principal, k.Key).Scan(&have, &target)
	switch {
	case err != nil:
		return KeyClaim{}, found(err, "idempotency key of", k.Principal)
	case !bytes.Equal(have, sum[:]):
		return KeyClaim{KeyConflict, target}, nil
	}
	return KeyClaim{KeySame, target}, nil
}

// LookKey says what a key is to a request, and takes nothing: KeyNew means that it is free. Target of k is not used.
func (s *Store) LookKey(ctx context.Context, k Key) (claim KeyClaim, err error) {
	if err := first(needed("the principal", k.Principal), needed("the idempotency key", k.Key)); err != nil {
		return KeyClaim{}, err
	}
	err = s.read(ctx, "look for an idempotency key", func(q query) error {
		var have []byte
		err := q.row(`SELECT request_sha256, target_id FROM request_keys WHERE principal = ? AND request_key = ? AND expires_at > ?`,
			k.Principal, k.Key, s.now()).Scan(&have, &claim.Target)
		sum := sha256.Sum256(k.Request)
		switch {
		case errors.Is(err, sql.ErrNoRows):
			claim = KeyClaim{State: KeyNew}
			return nil
		case err != nil:
			return err
		case bytes.Equal(have, sum[:]):
			claim.State = KeySame
		default:
			claim.State = KeyConflict
		}
		return nil
	})
	return claim, err
}

// AimKey gives a key another target, for a request whose id is known only after its key was taken. It must have k's target
// still.
func (s *Store) AimKey(ctx context.Context, k Key, target string) error {
	if err := needed("the key's target", target); err != nil {
		return err
	}
	return s.write(ctx, "aim an idempotency key", func(q query) error {
		return q.one(fmt.Errorf("%w: %s has no such key for %s", ErrNotFound, k.Principal, k.Target),
			`UPDATE request_keys SET target_id = ? WHERE principal = ? AND request_key = ? AND target_id = ?`, target, k.Principal, k.Key, k.Target)
	})
}

// ReleaseKey gives a key back whose request came to nothing. It must have this target still.
func (s *Store) ReleaseKey(ctx context.Context, k Key) error {
	return s.write(ctx, "release an idempotency key", func(q query) error {
		return q.one(fmt.Errorf("%w: %s has no such key for %s", ErrNotFound, k.Principal, k.Target),
			`DELETE FROM request_keys WHERE principal = ? AND request_key = ? AND target_id = ?`, k.Principal, k.Key, k.Target)
	})
}

package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/fairlead-ssh/fairlead/session/id"
)

// Token is a bearer token without its secret, of which only the SHA-256 is kept.
type Token struct {
	ID        string // "t_…"
	Name      string
	Principal string
	Role      string
	Scopes    []string
	Hosts     string // a selector; "" means what its principal may use
	CreatedBy string
	Created   time.Time
	Expires   time.Time // zero: never
	Revoked   time.Time // zero: not revoked
	Used      time.Time // to the minute; zero: never
}

// usedEvery is how exactly the last use of a token is kept, so that a busy one is not written with every request.
const usedEvery = time.Minute

const tokenColumns = `token_id, name, principal, role, scopes, hosts, created_by, created_at, expires_at, revoked_at, used_at`

func scanToken(row scanner) (t Token, err error) {
	var scopes []byte
	var created, expires, revoked, used int64
	if err = row.Scan(&t.ID, &t.Name, &t.Principal, &t.Role, &scopes, &t.Hosts, &t.CreatedBy, &created, &expires, &revoked, &used); err != nil {
		return Token{}, err
	}
	t.Scopes, err = wordsOf(scopes)
	t.Created, t.Expires, t.Revoked, t.Used = timeOf(created), timeOf(expires), timeOf(revoked), timeOf(used)
	return t, err
}

// CreateToken keeps a token for a secret, which must be random: of at least 16 bytes, 128 bits of them not to be guessed.
// ID may be empty, for a new one.
func (s *Store) CreateToken(ctx context.Context, t Token, secret string) (Token, error) {
	t.ID = or(t.ID, id.New("t_"))
	if err := first(needed("the id", t.ID), needed("the principal", t.Principal), word("the role", t.Role), word("who makes it", t.CreatedBy),
		s.room("the token", len(t.Name), len(t.Hosts))); err != nil {
		return Token{}, err
	}
	if len(secret) < 16 {
		return Token{}, fmt.Errorf("%w: the secret of a token has at least 16 bytes", ErrInvalid)
	}
	sum := sha256.Sum256([]byte(secret))
	err := s.write(ctx, "keep a token", func(q query) error {
		now := s.now()
		t.Created, t.Expires, t.Revoked, t.Used = timeOf(now), timeOf(micros(t.Expires)), time.Time{}, time.Time{}
		_, err := q.exec(`INSERT INTO tokens (token_id, secret_sha256, name, principal, role, scopes, hosts, created_by, created_at, expires_at, revoked_at, used_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, 0)`, t.ID, sum[:], bytesOf(t.Name), t.Principal, t.Role, listOf(t.Scopes), bytesOf(t.Hosts), t.CreatedBy, now, micros(t.Expires))
		return err
	})
	if err != nil {
		return Token{}, err
	}
	return t, nil
}

// notePatience bounds how long the use of a token waits for others that write, so that its use can be noted.
const notePatience = 2 * time.Second

// UseToken returns the token of a secret and notes its use; an ErrToken for a secret that is unknown, revoked or
// expired, which it does not tell apart. A store that can be read but not written lets tokens be used: Used stays as it is.
func (s *Store) UseToken(ctx context.Context, secret string) (t Token, err error) {
	sum := sha256.Sum256([]byte(secret))
	now := s.now()
	err = s.read(ctx, "look up a token", func(q query) error {
		t, err = scanToken(q.row(`SELECT `+tokenColumns+` FROM tokens WHERE secret_sha256 = ? AND revoked_at = 0 AND (expires_at = 0 OR expires_at > ?)`, sum[:], now))
		if errors.Is(err, sql.ErrNoRows) {
			return ErrToken
		}
		return err
	})
	if err != nil {
		return Token{}, err
	}
	if now-micros(t.Used) < usedEvery.Microseconds() {
		return t, nil
	}
	cfg := s.cfg
	if cfg.Patience > 0 {
		cfg.Patience = min(cfg.Patience, notePatience)
	}
	switch err := s.writeFor(ctx, "note the use of a token", cfg, func(q query) error {
		return q.one(ErrToken, `UPDATE tokens SET used_at = ? WHERE token_id = ? AND revoked_at = 0`, now, t.ID)
	}); {
	case errors.Is(err, ErrToken): // it was revoked meanwhile
		return Token{}, err
	case err == nil:
		t.Used = timeOf(now)
	}
	return t, nil
}

// Token returns a token by its id, revoked and expired or not; an ErrNotFound where there is none.
func (s *Store) Token(ctx context.Context, id string) (t Token, err error) {
	err = s.read(ctx, "look up a token", func(q query) error {
		t, err = scanToken(q.row(`SELECT `+tokenColumns+` FROM tokens WHERE token_id = ?`, id))
		if errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("%w: no token %q", ErrNotFound, id)
		}
		return err
	})
	return t, err
}

// RevokeToken revokes a token. It may be called again.
func (s *Store) RevokeToken(ctx context.Context, id string) error {
	return s.write(ctx, "revoke a token", func(q query) error {
		return q.one(fmt.Errorf("%w: no token %q", ErrNotFound, id),
			`UPDATE tokens SET revoked_at = CASE WHEN revoked_at = 0 THEN ? ELSE revoked_at END WHERE token_id = ?`, s.now(), id)
	})
}

// PendingOf returns the commands that were requested with a token and have not begun.
func (s *Store) PendingOf(ctx context.Context, token string) (ids []string, err error) {
	err = s.read(ctx, "list the pending commands of a token", func(q query) error {
		ids = nil
		return q.each(func(r scanner) error {
			var id string
			err := r.Scan(&id)
			ids = append(ids, id)
			return err
		}, `SELECT command_id FROM commands WHERE token_id = ? AND ended_at = 0 AND claimed_by = '' ORDER BY created_at, command_id`, token)
	})
	return ids, err
}

// Tokens returns all tokens, in the order they were made, with the revoked and expired ones.
func (s *Store) Tokens(ctx context.Context) (all []Token, err error) {
	err = s.read(ctx, "list tokens", func(q query) error {
		all = nil
		return q.each(func(r scanner) error {
			t, err := scanToken(r)
			if err == nil {
				all = append(all, t)
			}
			return err
		}, `SELECT `+tokenColumns+` FROM tokens ORDER BY created_at, token_id`)
	})
	return all, err
}

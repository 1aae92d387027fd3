package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"time"
)

// Session is what is remembered of a session: enough to tell, after a restart, that it was and is no more.
type Session struct {
	ID        string // "s_…"
	Name      string // "" for one without
	Principal string
	Host      string
	Sandbox   string
	Keeper    string // that holds it
	Cwd       string
	Created   time.Time
	Updated   time.Time
	Ended     time.Time // zero: open
	EndReason string
}

const sessionColumns = `session_id, name, principal, host, sandbox_id, keeper_id, cwd, created_at, updated_at, ended_at, ended_why`

func scanSession(row scanner) (n Session, err error) {
	var sandbox sql.NullString
	var created, updated, ended int64
	err = row.Scan(&n.ID, &n.Name, &n.Principal, &n.Host, &sandbox, &n.Keeper, &n.Cwd, &created, &updated, &ended, &n.EndReason)
	n.Sandbox, n.Created, n.Updated, n.Ended = sandbox.String, timeOf(created), timeOf(updated), timeOf(ended)
	return n, err
}

// OpenSession remembers a session that was opened. The times are set.
func (s *Store) OpenSession(ctx context.Context, n Session) (Session, error) {
	if err := first(needed("the id", n.ID), word("the name", n.Name), needed("the principal", n.Principal), needed("the host", n.Host),
		word("the sandbox", n.Sandbox), needed("the keeper", n.Keeper), s.room("the session", len(n.Cwd))); err != nil {
		return Session{}, err
	}
	err := s.write(ctx, "remember a session", func(q query) error {
		now := s.now()
		n.Created, n.Updated, n.Ended, n.EndReason = timeOf(now), timeOf(now), time.Time{}, ""
		if err := q.alive(n.Keeper, now); err != nil {
			return err
		}
		_, err := q.exec(`INSERT INTO sessions (session_id, name, principal, host, sandbox_id, keeper_id, cwd, created_at, updated_at, ended_at, ended_why)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?)`, n.ID, n.Name, n.Principal, n.Host, nullable(n.Sandbox), n.Keeper, bytesOf(n.Cwd), now, now, []byte{})
		return err
	})
	if err != nil {
		return Session{}, err
	}
	return n, nil
}

// EndSession notes that a session has ended, and why. The first reason stays.
func (s *Store) EndSession(ctx context.Context, id, why string) (n Session, err error) {
	err = s.write(ctx, "end a session", func(q query) error {
		if err := s.endSession(q, id, why, s.now()); err != nil {
			return err
		}
		n, err = q.session(id)
		return err
	})
	return n, err
}

// sessionEvent is the payload of "session.ended".
type sessionEvent struct {
	ID      string `json:"session_id"`
	Name    string `json:"name,omitempty"`
	Host    string `json:"host"`
	Sandbox string `json:"sandbox_id,omitempty"`
}

// endSession ends a session that has not ended, and tells.
func (s *Store) endSession(q query, id, why string, now int64) error {
	changed, err := q.exec(`UPDATE sessions SET ended_at = ?, updated_at = ?, ended_why = ? WHERE session_id = ? AND ended_at = 0`, now, now, bytesOf(why), id)
	if err != nil || changed == 0 {
		return err
	}
	n, err := q.session(id)
	if err != nil {
		return err
	}
	payload, err := json.Marshal(sessionEvent{n.ID, n.Name, n.Host, n.Sandbox})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	_, err = s.append(q, "session.ended", n.Principal, payload)
	return err
}

// Session returns a session, open or ended.
func (s *Store) Session(ctx context.Context, id string) (n Session, err error) {
	err = s.read(ctx, "read a session", func(q query) error {
		n, err = q.session(id)
		return err
	})
	return n, err
}

func (q query) session(id string) (Session, error) {
	n, err := scanSession(q.row(`SELECT `+sessionColumns+` FROM sessions WHERE session_id = ?`, id))
	return n, found(err, "session", id)
}

// SessionFilter picks sessions; empty fields pick all.
type SessionFilter struct {
	Principal, Host, Name, Sandbox, Keeper string
	Open                                   bool // only those that have not ended
}

// Sessions lists sessions.
func (s *Store) Sessions(ctx context.Context, f SessionFilter, p Paging) (page Page[Session], err error) {
	var b conditions
	b.equal("principal", f.Principal)
	b.equal("host", f.Host)
	b.equal("name", f.Name)
	b.equal("sandbox_id", f.Sandbox)
	b.equal("keeper_id", f.Keeper)
	if f.Open {
		b.add("ended_at = 0")
	}
	if err := b.check(); err != nil {
		return page, err
	}
	err = s.read(ctx, "list sessions", func(q query) error {
		page, err = list(q, p, sessionList, sessionColumns, "sessions", "session_id", b.text(), b.args, scanSession,
			func(n Session) place { return place{micros(n.Created), n.ID} })
		return err
	})
	return page, err
}

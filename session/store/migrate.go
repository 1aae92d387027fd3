package store

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// The files of migrations, in the order of their numbers: NNNN_what.sql, with the words of dialect.text, statements
// ended by a semicolon at the end of a line. A file that was released is never changed.
//
//go:embed migrations/*.sql
var migrations embed.FS

// migration is one of the steps from one state of the tables to the next.
type migration struct {
	name       string
	statements []string
	fill       func(q query) error // what statements cannot do alike in both databases, after them; nil for nothing
}

// fills are what migrations do besides their statements, by name.
var fills = map[string]func(q query) error{"0002_enforcement": fillSessions}

// fillSessions notes in which session those commands ran of which only the Result says so.
func fillSessions(q query) error {
	in := map[string]string{}
	err := q.each(func(r scanner) error {
		var id string
		var exec []byte
		if err := r.Scan(&id, &exec); err != nil {
			return err
		}
		var result struct {
			Session string `json:"session"`
		}
		if json.Unmarshal(exec, &result) == nil && needed("the session", result.Session) == nil {
			in[id] = result.Session
		}
		return nil
	}, `SELECT command_id, exec_result FROM commands WHERE session_id = '' AND length(exec_result) > 0`)
	if err != nil {
		return err
	}
	for id, session := range in {
		if _, err := q.exec(`UPDATE commands SET session_id = ? WHERE command_id = ?`, session, id); err != nil {
			return err
		}
	}
	return nil
}

// steps returns all that this version knows; the first is number 1.
func steps() ([]migration, error) {
	files, err := fs.ReadDir(migrations, "migrations")
	if err != nil {
		return nil, err
	}
	var all []migration
	for i, f := range files {
		if !strings.HasPrefix(f.Name(), fmt.Sprintf("%04d_", i+1)) {
			return nil, fmt.Errorf("store: internal error: migration %s is not number %d", f.Name(), i+1)
		}
		text, err := fs.ReadFile(migrations, "migrations/"+f.Name())
		if err != nil {
			return nil, err
		}
		m := migration{name: strings.TrimSuffix(f.Name(), ".sql")}
		m.fill = fills[m.name]
		for stmt := range strings.SplitSeq(string(text), ";\n") {
			if stmt = strings.TrimSpace(stmt); stmt != "" {
				m.statements = append(m.statements, stmt)
			}
		}
		all = append(all, m)
	}
	return all, nil
}

// migrate brings the tables up to date, in one transaction. Of several processes that do so at once one does it.
func (s *Store) migrate(ctx context.Context) error {
	all, err := steps()
	if err != nil {
		return err
	}
	if n, err := s.applied(ctx, len(all)); err != nil || n == len(all) {
		return err
	}
	return s.writeLong(ctx, "make the tables", func(q query) error {
		if q.numbered {
			// Any number that nobody else in the database is likely to lock.
			if _, err := q.exec(`SELECT pg_advisory_xact_lock(6174626001)`); err != nil {
				return err
			}
		}
		if _, err := q.exec(`CREATE TABLE IF NOT EXISTS fairlead_schema (version BIGINT PRIMARY KEY, name @WORD@ NOT NULL, applied_at BIGINT NOT NULL)`); err != nil {
			return err
		}
		have := map[int]bool{}
		newest := 0
		if err := q.each(func(r scanner) error {
			var v int
			err := r.Scan(&v)
			have[v], newest = true, max(newest, v)
			return err
		}, `SELECT version FROM fairlead_schema`); err != nil {
			return err
		}
		if err := s.tooNew(newest, len(all)); err != nil {
			return err
		}
		for i := range all {
			if have[i+1] {
				continue
			}
			for _, stmt := range all[i].statements {
				if _, err := q.exec(stmt); err != nil {
					return fmt.Errorf("migration %s: %w", all[i].name, err)
				}
			}
			if fill := all[i].fill; fill != nil {
				if err := fill(q); err != nil {
					return fmt.Errorf("migration %s: %w", all[i].name, err)
				}
			}
			if _, err := q.exec(`INSERT INTO fairlead_schema (version, name, applied_at) VALUES (?, ?, ?)`, int64(i+1), all[i].name, s.now()); err != nil {
				return err
			}
		}
		return nil
	})
}

// applied returns how many migrations the tables have had; 0 where there are no tables. It does not write.
func (s *Store) applied(ctx context.Context, known int) (n int, err error) {
	newest := 0
	exists := `SELECT count(*) FROM sqlite_schema WHERE name = 'fairlead_schema'`
	if s.db.numbered {
		exists = `SELECT count(*) FROM pg_catalog.pg_class WHERE oid = to_regclass('fairlead_schema')`
	}
	err = s.read(ctx, "look at the tables", func(q query) error {
		var there int
		if err := q.row(exists).Scan(&there); err != nil || there == 0 {
			return err
		}
		return q.row(`SELECT count(*), COALESCE(MAX(version), 0) FROM fairlead_schema`).Scan(&n, &newest)
	})
	if err != nil {
		return 0, err
	}
	return n, s.tooNew(newest, known)
}

// stillKnown looks whether a newer version has changed the tables since they were opened. Nothing more is accepted then.
func (s *Store) stillKnown(ctx context.Context) error {
	all, err := steps()
	if err != nil {
		return err
	}
	if _, err = s.applied(ctx, len(all)); errors.Is(err, ErrNewer) {
		s.db.newer.Store(&err)
	}
	return err
}

// tooNew refuses tables that this version does not know.
func (s *Store) tooNew(have, known int) error {
	if have <= known {
		return nil
	}
	return fmt.Errorf("%w of fairlead: the tables in %s are number %d, and this one knows %d: update it, or name another store", ErrNewer, s.db.name, have, known)
}

package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// openSQLite opens a file. One connection writes, so that goroutines of this process wait for each other in a queue;
// other processes are waited for with busy_timeout and, when that is over, again.
func openSQLite(ctx context.Context, cfg Config) (*database, error) {
	if err := makeFile(cfg.Path); err != nil {
		return nil, err
	}
	file, err := os.Stat(cfg.Path)
	if err != nil {
		return nil, fmt.Errorf("store: look at %s: %w", cfg.Path, err)
	}
	d := &database{dialect: sqliteDialect, name: cfg.Path, path: cfg.Path, kind: sqliteKind}
	open := func(conns int, v url.Values) (*sql.DB, error) {
		v["_pragma"] = slices.Concat([]string{"busy_timeout(1000)"}, v["_pragma"], []string{
			"journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)", "secure_delete(1)",
		})
		db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: cfg.Path}).EscapedPath()+"?"+v.Encode())
		if err != nil {
			return nil, fmt.Errorf("store: open %s: %w", cfg.Path, err)
		}
		db.SetMaxOpenConns(conns)
		db.SetMaxIdleConns(conns)
		return db, nil
	}
	writes := url.Values{"_txlock": {"immediate"}}
	if file.Size() == 0 {
		writes["_pragma"] = []string{"auto_vacuum(2)"} // before anything is written; later it would be a write for every connection
	}
	if d.writer, err = open(1, writes); err != nil {
		return nil, err
	}
	if d.reader, err = open(4, url.Values{"_pragma": {"query_only(1)"}}); err != nil {
		return nil, errors.Join(err, d.writer.Close())
	}
	err = d.attempt(ctx, "open", cfg, func(ctx context.Context) error {
		var n int
		return d.writer.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema`).Scan(&n)
	})
	if err != nil {
		return nil, errors.Join(err, d.close())
	}
	if err := d.makeShrinkable(ctx); err != nil {
		return nil, errors.Join(err, d.close())
	}
	opened, err := os.Stat(cfg.Path)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %s", ErrReplaced, cfg.Path), d.close())
	}
	d.intact = func() error {
		if now, err := os.Stat(cfg.Path); err != nil || !os.SameFile(opened, now) {
			return fmt.Errorf("%w: %s", ErrReplaced, cfg.Path)
		}
		return nil
	}
	return d, nil
}

// makeShrinkable rewrites a file, once, that an earlier version has made: pages that are free could not be given back. While others
// use the file it is left for the next time.
func (d *database) makeShrinkable(ctx context.Context) error {
	var mode int
	if err := d.writer.QueryRowContext(ctx, `PRAGMA auto_vacuum`).Scan(&mode); err != nil || mode == 2 {
		return err
	}
	for _, text := range []string{`PRAGMA auto_vacuum = 2`, `VACUUM`} {
		if _, err := d.writer.ExecContext(ctx, text); err != nil {
			if kind := d.kind(err); errors.Is(kind, errAgain) || errors.Is(kind, ErrFull) || errors.Is(kind, ErrReadOnly) {
				return nil
			}
			return fmt.Errorf("store: make %s smaller: %s", d.name, line(err))
		}
	}
	return nil
}

// makeFile makes the file and its directory where they are missing, and refuses what others can reach.
func makeFile(path string) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("store: make the directory of %s: %w", path, err)
	}
	if err := private(dir, true); err != nil {
		return err
	}
	err := private(path, false)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return private(path, false)
	case err != nil:
		return fmt.Errorf("store: make %s: %w", path, err)
	}
	return f.Close()
}

// sqliteKind says what an error of SQLite means.
func sqliteKind(err error) error {
	e, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
		return nil
	}
	switch e.Code() {
	case lib.SQLITE_CONSTRAINT_PRIMARYKEY, lib.SQLITE_CONSTRAINT_UNIQUE:
		return ErrExists
	case lib.SQLITE_CONSTRAINT_FOREIGNKEY:
		return ErrNotFound
	}
	switch e.Code() & 0xff {
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return errAgain
	case lib.SQLITE_FULL:
		return ErrFull
	case lib.SQLITE_READONLY, lib.SQLITE_CANTOPEN, lib.SQLITE_PERM:
		return ErrReadOnly
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		return ErrDamaged
	}
	return nil
}

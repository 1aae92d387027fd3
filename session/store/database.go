package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"time"
)

// database is one of the two kinds, open.
type database struct {
	dialect
	name   string  // where it is, for people
	path   string  // the file; "" where it is none
	writer *sql.DB // transactions that write
	reader *sql.DB // all others; may be the same
	begin  sql.TxOptions
	kind   func(error) error // what an error of the driver means: one of ours, errAgain, or nil
	intact func() error      // says that what was opened is not what is there now; nil where that cannot be
	closed atomic.Bool
	newer  atomic.Pointer[error] // what was found when others brought the tables to a version that this program does not know
}

// errAgain marks an error after which nothing has happened and the same may go well a little later.
var errAgain = errors.New("try again")

// openDatabase opens the one that cfg names.
func openDatabase(ctx context.Context, cfg Config) (*database, error) {
	if cfg.URL != "" {
		return openPostgres(ctx, cfg)
	}
	return openSQLite(ctx, cfg)
}

// close closes both handles.
func (d *database) close() error {
	if d.closed.Swap(true) {
		return nil
	}
	err := d.writer.Close()
	if d.reader != d.writer {
		err = errors.Join(err, d.reader.Close())
	}
	if err != nil {
		return fmt.Errorf("store: close %s: %w", d.name, err)
	}
	return nil
}

// query runs statements in one transaction, or one after the other.
type query struct {
	ctx context.Context
	on  interface {
		ExecContext(context.Context, string, ...any) (sql.Result, error)
		QueryContext(context.Context, string, ...any) (*sql.Rows, error)
		QueryRowContext(context.Context, string, ...any) *sql.Row
	}
	dialect
	top *int64 // the highest number of an event that the transaction adds
}

// exec runs a statement and returns how many rows it has changed.
func (q query) exec(text string, args ...any) (int64, error) {
	r, err := q.on.ExecContext(q.ctx, q.text(text), args...)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// one runs a statement that has to change exactly one row, else it returns otherwise.
func (q query) one(otherwise error, text string, args ...any) error {
	n, err := q.exec(text, args...)
	if err != nil {
		return err
	}
	if n != 1 {
		return otherwise
	}
	return nil
}

// row runs a statement that returns at most one row.
func (q query) row(text string, args ...any) *sql.Row {
	return q.on.QueryRowContext(q.ctx, q.text(text), args...)
}

// each runs a statement and calls scan for each row.
func (q query) each(scan func(scanner) error, text string, args ...any) error {
	rows, err := q.on.QueryContext(q.ctx, q.text(text), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// strings runs a statement that returns one word per row.
func (q query) strings(text string, args ...any) (all []string, err error) {
	err = q.each(func(r scanner) error {
		var w string
		if err := r.Scan(&w); err != nil {
			return err
		}
		all = append(all, w)
		return nil
	}, text, args...)
	return all, err
}

// scanner is a row.
type scanner interface{ Scan(...any) error }

// write runs fn in a transaction that writes. fn may be called several times, each time in a new transaction; an error
// of it ends the transaction without effect.
func (s *Store) write(ctx context.Context, op string, fn func(q query) error) error {
	return s.writeFor(ctx, op, s.cfg, fn)
}

// writeLong is write for what takes its time in a large database.
func (s *Store) writeLong(ctx context.Context, op string, fn func(q query) error) error {
	cfg := s.cfg
	cfg.Timeout = -1
	return s.writeFor(ctx, op, cfg, fn)
}

func (s *Store) writeFor(ctx context.Context, op string, cfg Config, fn func(q query) error) error {
	return s.db.attempt(ctx, op, cfg, func(ctx context.Context) error {
		tx, err := s.db.writer.BeginTx(ctx, &s.db.begin)
		if err != nil {
			return err
		}
		defer tx.Rollback()
		var top int64
		if err := fn(query{ctx, tx, s.db.dialect, &top}); err != nil {
			return err
		}
		if err := tx.Commit(); err != nil {
			return err
		}
		for last := s.last.Load(); top > last && !s.last.CompareAndSwap(last, top); last = s.last.Load() {
		}
		return nil
	})
}

// read runs fn, which does not write; fn may be called several times. Its statements do not see one state of the
// database unless they are one statement.
func (s *Store) read(ctx context.Context, op string, fn func(q query) error) error {
	return s.db.attempt(ctx, op, s.cfg, func(ctx context.Context) error { return fn(query{ctx, s.db.reader, s.db.dialect, new(int64)}) })
}

// attempt calls fn until it meets something else than others that write, and translates its error.
func (d *database) attempt(ctx context.Context, op string, cfg Config, fn func(context.Context) error) error {
	var deadline time.Time
	if cfg.Patience > 0 {
		deadline = time.Now().Add(cfg.Patience)
	}
	for pause := time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		if d.closed.Load() {
			return ErrClosed
		}
		err := d.try(ctx, cfg.Timeout, fn)
		if err == nil || ours(err) {
			return err
		}
		kind := d.kind(err)
		switch {
		case d.closed.Load():
			return ErrClosed
		case ctx.Err() != nil:
			return fmt.Errorf("store: %s: %w", op, context.Cause(ctx))
		case kind == nil:
			return fmt.Errorf("%w: %s in %s: %s", ErrUnavailable, op, d.name, line(err))
		case !errors.Is(kind, errAgain):
			return &located{fmt.Errorf("%w: %s in %s: %s%s", kind, op, d.name, line(err), hints[kind]), d.path}
		case !deadline.IsZero() && time.Now().After(deadline):
			return fmt.Errorf("%w: %s in %s: not a moment in %v: see which other process holds it", ErrBusy, op, d.name, cfg.Patience)
		}
		timer := time.NewTimer(pause/2 + rand.N(pause))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

// try calls fn once, for as long as the database may take.
func (d *database) try(ctx context.Context, timeout time.Duration, fn func(context.Context) error) error {
	if d.intact != nil {
		if err := d.intact(); err != nil {
			return err
		}
	}
	if err := d.newer.Load(); err != nil {
		return *err
	}
	if timeout > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, timeout)
		defer stop()
	}
	return fn(ctx)
}

// located is an error about a database that is a file.
type located struct {
	error
	path string
}

func (l *located) Unwrap() error { return l.error }

// hints say what to do about an error of a database.
var hints = map[error]string{
	ErrFull:     ": make room; nothing was written",
	ErrReadOnly: ": see who owns it, and whether its disk is mounted read-only; nothing was written",
	ErrDamaged:  ": restore a copy, or move it away to begin with an empty one",
}

// line is the text of a driver's error, which may have several lines, in one.
func line(err error) string { return strings.Join(strings.Fields(err.Error()), " ") }

// ours reports an error that this package has made itself inside a transaction.
func ours(err error) bool {
	for _, e := range []error{
		ErrNotFound, ErrExists, ErrInvalid, ErrTooLarge, ErrInactive, ErrNotPending, ErrExpired, ErrMismatch, ErrForbidden,
		ErrNotApproved, ErrClaimed, ErrNotClaimed, ErrNotEnded, ErrKeyReused, ErrCursor, ErrToken, ErrPurged, ErrSealKey,
		ErrDamaged, ErrNewer, ErrReplaced,
	} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// found turns "no row" into an ErrNotFound that names what was looked for.
func found(err error, what, id string) error {
	if errors.Is(err, sql.ErrNoRows) {
		return fmt.Errorf("%w: no %s %q", ErrNotFound, what, id)
	}
	return err
}

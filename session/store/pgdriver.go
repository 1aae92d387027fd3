package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// This file is the little of a database/sql driver that the statements of this package need, over a pgx connection:
// parameters and columns are integers, texts, bytes and NULL.

const (
	closeTimeout = 5 * time.Second // for a rollback or a farewell, whose caller may have left
	idleCheck    = time.Second     // a connection that was idle so long is asked whether it still lives
)

// connector makes connections.
type connector struct{ cfg *pgx.ConnConfig }

func (c connector) Driver() driver.Driver { return noDriver{} }

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	pg, err := pgx.ConnectConfig(ctx, c.cfg)
	if err != nil {
		return nil, err
	}
	conn := &pgConn{pg: pg, used: time.Now()}
	// What is claimed must be on disk: a database that does not wait for that is told to.
	if _, err := pg.Exec(ctx, `SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// noDriver opens nothing by name.
type noDriver struct{}

func (noDriver) Open(string) (driver.Conn, error) {
	return nil, errors.New("store: internal error: opened by name")
}

// pgConn is one connection; database/sql lets one goroutine at a time use it.
type pgConn struct {
	pg   *pgx.Conn
	used time.Time
}

func (c *pgConn) Prepare(string) (driver.Stmt, error) {
	return nil, errors.New("store: internal error: prepared a statement")
}

func (c *pgConn) Begin() (driver.Tx, error) {
	return nil, errors.New("store: internal error: began without a context")
}

// Close says farewell and waits until the connection is gone, also one that was cut in the middle of a call.
func (c *pgConn) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	err := c.pg.Close(ctx)
	select {
	case <-c.pg.PgConn().CleanupDone():
	case <-ctx.Done():
	}
	return err
}

// IsValid keeps a closed connection out of the pool.
func (c *pgConn) IsValid() bool { return !c.pg.IsClosed() }

// ResetSession looks at a connection before it is used again.
func (c *pgConn) ResetSession(ctx context.Context) error {
	if c.pg.IsClosed() || c.pg.PgConn().TxStatus() != 'I' {
		return driver.ErrBadConn
	}
	if time.Since(c.used) > idleCheck && c.pg.Ping(ctx) != nil {
		return driver.ErrBadConn
	}
	c.used = time.Now()
	return nil
}

func (c *pgConn) Ping(ctx context.Context) error { return c.cut(c.pg.Ping(ctx), true) }

// BeginTx begins a transaction. ctx bounds it up to and with its Commit.
func (c *pgConn) BeginTx(ctx context.Context, _ driver.TxOptions) (driver.Tx, error) {
	tx, err := c.pg.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite})
	if err != nil {
		return nil, c.cut(err, true)
	}
	return pgTx{tx, func() error { return tx.Commit(ctx) }}, nil
}

func (c *pgConn) ExecContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Result, error) {
	tag, err := c.pg.Exec(ctx, text, values(args)...)
	if err != nil {
		return nil, c.cut(err, false)
	}
	return driver.RowsAffected(tag.RowsAffected()), nil
}

func (c *pgConn) QueryContext(ctx context.Context, text string, args []driver.NamedValue) (driver.Rows, error) {
	reads := c.pg.PgConn().TxStatus() == 'I' // what writes does so in a transaction
	rows, err := c.pg.Query(ctx, text, values(args)...)
	if err != nil {
		return nil, c.cut(err, reads)
	}
	// The statement's error comes with the first row; who asks for the columns has to know it before.
	r := &pgRows{rows: rows, more: rows.Next()}
	if err := rows.Err(); err != nil {
		return nil, c.cut(err, reads)
	}
	for _, f := range rows.FieldDescriptions() {
		r.columns = append(r.columns, f.Name)
	}
	return r, nil
}

// cut tells database/sql of a connection that was cut before anything was sent, or where what was sent changes nothing:
// it takes another one.
func (c *pgConn) cut(err error, harmless bool) error {
	if err != nil && c.pg.IsClosed() && (harmless || pgconn.SafeToRetry(err)) {
		return driver.ErrBadConn
	}
	return err
}

func values(args []driver.NamedValue) []any {
	out := make([]any, len(args))
	for i, a := range args {
		out[i] = a.Value
	}
	return out
}

// pgTx is a transaction.
type pgTx struct {
	tx     pgx.Tx
	commit func() error
}

func (t pgTx) Commit() error { return t.commit() }

func (t pgTx) Rollback() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	return t.tx.Rollback(ctx)
}

// pgRows are the rows of a query; more says whether the next one is there already.
type pgRows struct {
	rows    pgx.Rows
	columns []string
	more    bool
}

func (r *pgRows) Columns() []string { return r.columns }

func (r *pgRows) Close() error {
	r.rows.Close()
	return r.rows.Err()
}

func (r *pgRows) Next(dest []driver.Value) error {
	if !r.more {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return io.EOF
	}
	row, err := r.rows.Values()
	if err != nil {
		return err
	}
	for i, v := range row {
		if n, ok := v.(int32); ok {
			v = int64(n)
		}
		dest[i] = v
	}
	r.more = r.rows.Next()
	return nil
}

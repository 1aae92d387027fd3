package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// connectTimeout bounds one attempt to connect, where the URL does not say connect_timeout.
const connectTimeout = 10 * time.Second

// openPostgres connects to a database.
func openPostgres(ctx context.Context, cfg Config) (*database, error) {
	pg, err := pgx.ParseConfig(cfg.URL)
	if err != nil {
		// The parser's error quotes the URL, from which it removes a password only where it finds one.
		return nil, errors.New("store: the URL of the Postgres database cannot be understood: give postgres://user@host/name?sslmode=verify-full")
	}
	if pg.ConnectTimeout == 0 {
		pg.ConnectTimeout = connectTimeout
	}
	if pg.RuntimeParams["application_name"] == "" {
		pg.RuntimeParams["application_name"] = "fairlead"
	}
	db := sql.OpenDB(connector{pg})
	if cfg.MaxConns > 0 {
		db.SetMaxOpenConns(cfg.MaxConns)
		db.SetMaxIdleConns(cfg.MaxConns)
	}
	db.SetConnMaxIdleTime(5 * time.Minute)
	d := &database{
		dialect: postgresDialect, name: fmt.Sprintf("postgres database %s on %s", pg.Database, pg.Host), writer: db, reader: db,
		begin: sql.TxOptions{Isolation: sql.LevelReadCommitted}, kind: postgresKind,
	}
	if err := d.attempt(ctx, "connect", cfg, func(ctx context.Context) error { return db.PingContext(ctx) }); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

// postgresKind says what an error of Postgres means. The codes are those of its manual, appendix A.
func postgresKind(err error) error {
	e, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		return nil
	}
	switch e.Code {
	case "40001", "40P01", "55P03", "57P03", "53300": // serialization, deadlock, lock, starting up, too many connections
		return errAgain
	case "23505":
		return ErrExists
	case "23503":
		return ErrNotFound
	case "53100":
		return ErrFull
	case "25006", "42501":
		return ErrReadOnly
	case "XX001", "XX002":
		return ErrDamaged
	}
	return nil
}

package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"
)

// Defaults and limits of [Config].
const (
	DefaultKeyTTL    = 24 * time.Hour
	DefaultKeeperTTL = time.Minute
	DefaultMaxEvents = 10000
	DefaultMaxOutput = 64 << 20
	DefaultMaxConns  = 8
	DefaultPatience  = 30 * time.Second
	DefaultTimeout   = 10 * time.Second
)

// Config configures a [Store]. Path or URL is required. In every number zero means the default, and a negative value no
// limit where one makes sense.
type Config struct {
	// Path is the SQLite file. It is made, with mode 0600, where it is missing, and so is its directory, with mode 0700.
	// A file or directory that others own or may read is refused.
	Path string

	// URL is a Postgres database: "postgres://user@host/name". Its tables stand in the first schema of the search path.
	// A URL without a scheme is a Path.
	URL string

	// Key seals exact bytes: 32 bytes. KeyFile names a file of such a key, which is made where it is missing; the default
	// is Path with ".key" added. All keepers of one Postgres database need the same one. With Postgres and neither,
	// commands cannot wait: Create refuses pending ones.
	Key     []byte
	KeyFile string

	// Now is the time; nil means the database's clock in Postgres, and time.Now for a file. Times are kept to the microsecond.
	Now func() time.Time

	KeyTTL    time.Duration // how long an idempotency key is remembered
	KeeperTTL time.Duration // a keeper is dead that has given no sign of life while this Store looked for so long
	MaxEvents int           // events kept; the oldest go first
	MaxOutput int           // bytes of one output, and of each text of a record
	MaxConns  int           // connections to Postgres

	// Patience is how long a call waits for others that write, if its context does not end first. Then it is an ErrBusy.
	Patience time.Duration

	// Timeout bounds how long the database may take for one transaction or statement. Then it is an ErrUnavailable.
	Timeout time.Duration
}

// withDefaults returns c with its defaults filled in.
func (c Config) withDefaults() (Config, error) {
	if c.URL != "" && !strings.Contains(c.URL, "://") && c.Path == "" {
		c.Path, c.URL = c.URL, ""
	}
	switch {
	case c.Path == "" && c.URL == "":
		return c, errors.New("store: neither a path nor a URL was given")
	case c.Path != "" && c.URL != "":
		return c, errors.New("store: both a path and a URL were given: choose one")
	case c.URL != "" && !isPostgres(c.URL):
		return c, errors.New("store: unknown kind of URL: give postgres://user@host/name, or the path of a file")
	case c.Key != nil && len(c.Key) != keyBytes:
		return c, fmt.Errorf("store: the sealing key has %d bytes, not %d", len(c.Key), keyBytes)
	}
	if c.Path != "" {
		abs, err := filepath.Abs(c.Path)
		if err != nil {
			return c, fmt.Errorf("store: %w", err)
		}
		c.Path = abs
		if c.Key == nil && c.KeyFile == "" {
			c.KeyFile = c.Path + ".key"
		}
	}
	if c.Now == nil && c.Path != "" {
		c.Now = time.Now
	}
	c.KeyTTL = or(c.KeyTTL, DefaultKeyTTL)
	c.KeeperTTL = or(c.KeeperTTL, DefaultKeeperTTL)
	c.MaxEvents = or(c.MaxEvents, DefaultMaxEvents)
	c.MaxOutput = or(c.MaxOutput, DefaultMaxOutput)
	c.MaxConns = or(c.MaxConns, DefaultMaxConns)
	c.Patience = or(c.Patience, DefaultPatience)
	c.Timeout = or(c.Timeout, DefaultTimeout)
	return c, nil
}

// or returns v, or fallback where v is zero.
func or[T comparable](v, fallback T) T {
	var zero T
	if v == zero {
		return fallback
	}
	return v
}

// isPostgres reports that url names a Postgres database.
func isPostgres(url string) bool {
	return strings.HasPrefix(url, "postgres://") || strings.HasPrefix(url, "postgresql://")
}

// Store is an open database. Close it.
type Store struct {
	cfg  Config
	db   *database
	seal *sealer // nil where there is no key

	lives liveness
	clock dbClock
	last  atomic.Int64 // the highest number of an event that was seen
}

// Open opens the store, makes it where it is missing and brings its tables up to date. ctx bounds this call only. It
// returns an ErrNewer for a store that a newer version has written, an ErrDamaged for a file that is no intact
// database, and else says what is in the way.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	db, err := openDatabase(ctx, cfg)
	if err != nil {
		return nil, err
	}
	s := &Store{cfg: cfg, db: db}
	if err := s.measure(ctx); err != nil {
		return nil, errors.Join(err, db.close())
	}
	if err := s.migrate(ctx); err != nil {
		return nil, errors.Join(err, db.close())
	}
	switch {
	case cfg.Key != nil:
		s.seal, err = newSealer(cfg.Key)
	case cfg.KeyFile != "":
		s.seal, err = openSealer(cfg.KeyFile)
	}
	if err != nil {
		return nil, errors.Join(err, db.close())
	}
	return s, nil
}

// Close ends the store. Calls that still run fail. It is idempotent.
func (s *Store) Close() error { return s.db.close() }

// Files are the absolute paths of what the store keeps on this machine, whether it is there at the moment or not.
func (s *Store) Files() []string {
	var out []string
	if s.cfg.Path != "" {
		for _, end := range []string{"", "-wal", "-shm", "-journal"} {
			out = append(out, s.cfg.Path+end)
		}
	}
	if s.cfg.KeyFile != "" {
		if abs, err := filepath.Abs(s.cfg.KeyFile); err == nil {
			out = append(out, abs)
		}
	}
	return out
}

// Name says where the store is, for people: a path, or a Postgres host and database. It holds no password.
func (s *Store) Name() string { return s.db.name }

// Shared reports whether other keepers may use the store at the same time: it is in Postgres.
func (s *Store) Shared() bool { return s.db.numbered }

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error {
	var one int
	return s.read(ctx, "ping", func(q query) error { return q.row(`SELECT 1`).Scan(&one) })
}

// Check reads the whole database and returns an ErrDamaged where it does not fit together. Of a Postgres database, which
// looks after itself, it only asks whether it answers.
func (s *Store) Check(ctx context.Context) error {
	if s.db.numbered {
		return s.Ping(ctx)
	}
	return s.read(ctx, "check", func(q query) error {
		said, err := q.strings(`PRAGMA integrity_check(1)`)
		if err == nil && (len(said) != 1 || said[0] != "ok") {
			return fmt.Errorf("%w: %s: %s", ErrDamaged, s.db.name, strings.Join(said, "; "))
		}
		return err
	})
}

// now is the time as the store keeps it.
func (s *Store) now() int64 { return s.Now().UnixMicro() }

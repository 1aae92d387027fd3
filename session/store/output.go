package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"
)

// PutOutput keeps bytes under their SHA-256, and returns it in hexadecimal. Bytes that are kept already are only noted as
// used now; purged ones are kept again.
func (s *Store) PutOutput(ctx context.Context, data []byte) (sum string, err error) {
	if err := s.room("the output", len(data)); err != nil {
		return "", err
	}
	h := sha256.Sum256(data)
	sum = hex.EncodeToString(h[:])
	return sum, s.write(ctx, "keep an output", func(q query) error {
		now := s.now()
		n, err := q.exec(`UPDATE outputs SET used_at = ? WHERE sha256 = ? AND purged_at = 0`, now, sum)
		if err != nil || n == 1 {
			return err
		}
		_, err = q.exec(`INSERT INTO outputs (sha256, size, data, created_at, used_at, purged_at) VALUES (?, ?, ?, ?, ?, 0)
			ON CONFLICT (sha256) DO UPDATE SET data = excluded.data, used_at = excluded.used_at, purged_at = 0`, sum, int64(len(data)), bytesOf(string(data)), now, now)
		return err
	})
}

// Output returns the bytes of a SHA-256; an ErrPurged where they were taken out, an ErrDamaged where they are not what
// they were.
func (s *Store) Output(ctx context.Context, sum string) (data []byte, err error) {
	err = s.read(ctx, "read an output", func(q query) error {
		var purged int64
		if err := q.row(`SELECT data, purged_at FROM outputs WHERE sha256 = ?`, sum).Scan(&data, &purged); err != nil {
			return found(err, "output", sum)
		}
		if purged != 0 {
			return fmt.Errorf("%w: output %s, on %s", ErrPurged, sum, timeOf(purged).Format(time.DateOnly))
		}
		if h := sha256.Sum256(data); hex.EncodeToString(h[:]) != sum {
			return fmt.Errorf("%w: output %s is not what was put there", ErrDamaged, sum)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if data == nil {
		data = []byte{}
	}
	return data, nil
}

// Purged counts what a purge took out.
type Purged struct {
	Outputs  int   // kept by hash
	Bytes    int64 // of those, and of what the records held
	Commands int   // whose records hold no outputs any more
}

// PurgeOutput takes an output out: its bytes, and Stdout, Stderr and Exec of all ended commands that had it. That it was
// there stays known.
func (s *Store) PurgeOutput(ctx context.Context, sum string) (p Purged, err error) {
	if err := needed("the hash", sum); err != nil {
		return Purged{}, err
	}
	return s.purge(ctx, `sha256 = ?`, `(stdout_sum = ? OR stderr_sum = ?)`, []any{sum}, []any{sum, sum}, nil)
}

// PurgeBefore does the same with all outputs that were last used, and all commands that ended, before t. It calls tell, if not nil,
// with what is about to be taken out; an error of that is returned, and nothing is taken out.
func (s *Store) PurgeBefore(ctx context.Context, t time.Time, tell func(Purged) error) (Purged, error) {
	return s.purge(ctx, `used_at < ?`, `ended_at < ?`, []any{micros(t)}, []any{micros(t)}, tell)
}

func (s *Store) purge(ctx context.Context, outputs, commands string, outputArgs, commandArgs []any, tell func(Purged) error) (p Purged, err error) {
	err = s.writeLong(ctx, "purge outputs", func(q query) error {
		now := s.now()
		var count, size int64
		if err := q.row(`SELECT count(*), CAST(COALESCE(sum(size), 0) AS BIGINT) FROM outputs WHERE purged_at = 0 AND `+outputs, outputArgs...).Scan(&count, &size); err != nil {
			return err
		}
		if _, err := q.exec(`UPDATE outputs SET data = NULL, purged_at = ? WHERE purged_at = 0 AND `+outputs, append([]any{now}, outputArgs...)...); err != nil {
			return err
		}
		var inRecords int64
		if err := q.row(`SELECT CAST(COALESCE(sum(length(stdout) + length(stderr) + length(exec_result)), 0) AS BIGINT) FROM commands
			WHERE ended_at > 0 AND purged_at = 0 AND `+commands, commandArgs...).Scan(&inRecords); err != nil {
			return err
		}
		n, err := q.exec(`UPDATE commands SET stdout = ?, stderr = ?, exec_result = ?, purged_at = ? WHERE ended_at > 0 AND purged_at = 0 AND `+commands,
			append([]any{[]byte{}, []byte{}, []byte{}, now}, commandArgs...)...)
		p = Purged{Outputs: int(count), Bytes: size + inRecords, Commands: int(n)}
		if err == nil && tell != nil && (p.Outputs > 0 || p.Commands > 0) {
			err = tell(p)
		}
		return err
	})
	if err != nil {
		return Purged{}, err
	}
	return p, s.shrink(ctx)
}

// Prune deletes the records of commands, with their approvals, and sessions that ended before t, and returns how many.
func (s *Store) Prune(ctx context.Context, t time.Time) (commands, sessions int, err error) {
	err = s.writeLong(ctx, "prune", func(q query) error {
		n, err := q.exec(`DELETE FROM commands WHERE ended_at > 0 AND ended_at < ?`, micros(t))
		if err != nil {
			return err
		}
		m, err := q.exec(`DELETE FROM sessions WHERE ended_at > 0 AND ended_at < ?`, micros(t))
		commands, sessions = int(n), int(m)
		return err
	})
	if err == nil {
		err = s.shrink(ctx)
	}
	return commands, sessions, err
}

// shrink gives the disk back what a SQLite file has no more use for. Postgres does so by itself. While others use the file it is
// left for the next time.
func (s *Store) shrink(ctx context.Context) error {
	if s.db.numbered {
		return nil
	}
	for _, text := range []string{`PRAGMA incremental_vacuum`, `PRAGMA wal_checkpoint(TRUNCATE)`} {
		rows, err := s.db.writer.QueryContext(ctx, text)
		if err != nil {
			if errors.Is(s.db.kind(err), errAgain) {
				return nil
			}
			return fmt.Errorf("%w: shrink %s: %s", ErrUnavailable, s.db.name, line(err))
		}
		for rows.Next() { // each step frees a page
		}
		rows.Close()
	}
	return nil
}

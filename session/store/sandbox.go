package store

import (
	"context"
	"fmt"
	"time"

	"github.com/fairlead-ssh/fairlead/session/id"
)

// Sandbox is a directory on a host in which a principal may work.
type Sandbox struct {
	ID      string // "b_…"
	Owner   string // a principal
	Host    string
	Label   string
	Path    string
	Active  bool
	Network string // NetworkNone, or "" for the account's
	Created time.Time
	Updated time.Time
}

// NetworkNone is the network of a sandbox in which programs have none.
const NetworkNone = "none"

const sandboxColumns = `sandbox_id, owner_principal_id, host, label, path, is_active, network, created_at, updated_at`

func scanSandbox(row scanner) (b Sandbox, err error) {
	var active, created, updated int64
	err = row.Scan(&b.ID, &b.Owner, &b.Host, &b.Label, &b.Path, &active, &b.Network, &created, &updated)
	b.Active, b.Created, b.Updated = active != 0, timeOf(created), timeOf(updated)
	return b, err
}

func (q query) sandbox(id string, lock bool) (Sandbox, error) {
	text := `SELECT ` + sandboxColumns + ` FROM sandboxes WHERE sandbox_id = ? AND deleted_at = 0`
	if lock {
		text += "@LOCK@"
	}
	b, err := scanSandbox(q.row(text, id))
	return b, found(err, "sandbox", id)
}

// sandboxHolds refuses a new command in a sandbox that is gone or, unless it was rejected anyway, not active.
func (q query) sandboxHolds(id string, status Status) error {
	if id == "" {
		return nil
	}
	var active int64
	if err := q.row(`SELECT is_active FROM sandboxes WHERE sandbox_id = ? AND deleted_at = 0@SHARE@`, id).Scan(&active); err != nil {
		return found(err, "sandbox", id)
	}
	if active == 0 && status != Rejected {
		return fmt.Errorf("%w: %s", ErrInactive, id)
	}
	return nil
}

// CreateSandbox keeps a new sandbox. ID may be empty, for a new one; the times are set.
func (s *Store) CreateSandbox(ctx context.Context, b Sandbox) (Sandbox, error) {
	b.ID = or(b.ID, id.New("b_"))
	if err := first(needed("the id", b.ID), needed("the owner", b.Owner), needed("the host", b.Host),
		s.room("the sandbox", len(b.Label), len(b.Path))); err != nil {
		return Sandbox{}, err
	}
	err := s.write(ctx, "keep a sandbox", func(q query) error {
		now := s.now()
		b.Created, b.Updated = timeOf(now), timeOf(now)
		_, err := q.exec(`INSERT INTO sandboxes (sandbox_id, owner_principal_id, host, label, path, is_active, network, created_at, updated_at, deleted_at)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)`, b.ID, b.Owner, b.Host, bytesOf(b.Label), bytesOf(b.Path), number(b.Active), b.Network, now, now)
		return err
	})
	if err != nil {
		return Sandbox{}, err
	}
	return b, nil
}

// Sandbox returns a sandbox; an ErrNotFound for a deleted one.
func (s *Store) Sandbox(ctx context.Context, id string) (b Sandbox, err error) {
	err = s.read(ctx, "read a sandbox", func(q query) error {
		b, err = q.sandbox(id, false)
		return err
	})
	return b, err
}

// SandboxChange changes a sandbox; nil fields stay.
type SandboxChange struct {
	Label, Path *string
	Active      *bool
	Network     *string
}

// UpdateSandbox changes a sandbox.
func (s *Store) UpdateSandbox(ctx context.Context, id string, ch SandboxChange) (b Sandbox, err error) {
	err = s.write(ctx, "change a sandbox", func(q query) error {
		if b, err = q.sandbox(id, true); err != nil {
			return err
		}
		if ch.Label != nil {
			b.Label = *ch.Label
		}
		if ch.Path != nil {
			b.Path = *ch.Path
		}
		if ch.Active != nil {
			b.Active = *ch.Active
		}
		if ch.Network != nil {
			b.Network = *ch.Network
		}
		if err := s.room("the sandbox", len(b.Label), len(b.Path)); err != nil {
			return err
		}
		now := s.now()
		b.Updated = timeOf(now)
		_, err := q.exec(`UPDATE sandboxes SET label = ?, path = ?, is_active = ?, network = ?, updated_at = ? WHERE sandbox_id = ?`,
			bytesOf(b.Label), bytesOf(b.Path), number(b.Active), b.Network, now, id)
		return err
	})
	if err != nil {
		return Sandbox{}, err
	}
	return b, nil
}

// DeleteSandbox hides a sandbox for good; its commands stay. A second call is an ErrNotFound.
func (s *Store) DeleteSandbox(ctx context.Context, id string) error {
	return s.write(ctx, "delete a sandbox", func(q query) error {
		now := s.now()
		return q.one(fmt.Errorf("%w: no sandbox %q", ErrNotFound, id),
			`UPDATE sandboxes SET deleted_at = ?, updated_at = ?, is_active = 0 WHERE sandbox_id = ? AND deleted_at = 0`, now, now, id)
	})
}

// SandboxFilter picks sandboxes; empty fields pick all that are not deleted.
type SandboxFilter struct {
	Owner, Host string
	Active      bool // only active ones
}

// Sandboxes lists sandboxes.
func (s *Store) Sandboxes(ctx context.Context, f SandboxFilter, p Paging) (page Page[Sandbox], err error) {
	var b conditions
	b.equal("owner_principal_id", f.Owner)
	b.equal("host", f.Host)
	b.add("deleted_at = 0")
	if f.Active {
		b.add("is_active = 1")
	}
	if err := b.check(); err != nil {
		return page, err
	}
	err = s.read(ctx, "list sandboxes", func(q query) error {
		page, err = list(q, p, sandboxList, sandboxColumns, "sandboxes", "sandbox_id", b.text(), b.args, scanSandbox,
			func(b Sandbox) place { return place{micros(b.Created), b.ID} })
		return err
	})
	return page, err
}

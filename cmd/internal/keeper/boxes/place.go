package boxes

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/livepolicy"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/realm"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/route"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/sandboxed"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/registry"
	"github.com/fairlead-ssh/fairlead/session/sandbox"
	"github.com/fairlead-ssh/fairlead/session/store"
)

// newRunner returns what runs commands in sandboxes, on hosts of the keeper's own inventory.
func (bs *Boxes) newRunner() *sandboxed.Runner {
	return sandboxed.New(sandboxed.Config{
		Store: bs.Store, ID: bs.ID, AuditDir: bs.AuditDir, Record: bs.Record, Desk: bs.Desk, Secrets: bs.Secrets, Log: bs.Log, Now: bs.Now,
		Places: boxPlaces{bs}, Asks: bs.Asks, Ended: bs.commandEnded, ApprovalTimeout: bs.ApprovalTimeout, Grace: bs.Grace,
		Timeout: route.AgentTimeout, Opening: route.BeforeSending,
		Check: bs.Check,
		Keep:  bs.Keep, Sweep: bs.Sweep, Look: bs.Look, Base: bs.Base, Go: bs.Go,
	})
}

// boxPlaces are where commands in sandboxes run.
type boxPlaces struct{ bs *Boxes }

// Find implements sandboxed.Places.
func (p boxPlaces) Find(principal, host string) (sandboxed.Place, func(), error) {
	who := &access.Caller{Principal: principal, Inventory: p.bs.Inventory}
	h, err := p.bs.terminalHost(who, host)
	if err != nil {
		return nil, nil, &sandboxed.HostError{Err: err}
	}
	r, done, err := p.bs.Realms.Of(who)
	if err != nil {
		return nil, nil, err
	}
	return boxPlace{p.bs, r, h}, done, nil
}

// boxPlace is one of them.
type boxPlace struct {
	bs *Boxes
	r  *realm.Realm
	h  hosts.Host
}

// Host implements sandboxed.Place.
func (p boxPlace) Host() hosts.Host { return p.h }

// Way implements sandboxed.Place.
func (p boxPlace) Way() string { return p.r.Conn.Way(p.h) }

// Ours implements sandboxed.Place.
func (p boxPlace) Ours(session string) func() {
	return p.r.Ours(session)
}

// Enter implements sandboxed.Place.
func (p boxPlace) Enter(ctx context.Context, c store.Command, held *sandbox.Enforcement) (*registry.Entry, error) {
	ctx = context.WithValue(ctx, livepolicy.OwnKey{}, true)
	b, err := p.bs.sandboxNow(ctx, p.r, p.h, c.Sandbox)
	if err != nil {
		return nil, err
	}
	dir, err := boxOf(b).Resolve(c.Cwd)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", problem.ErrSandbox, strings.TrimPrefix(err.Error(), "sandbox: "))
	}
	if held == nil {
		now, err := p.bs.held(ctx, p.r, p.h, boxOf(b), p.r.Look(p.h), sandbox.Level(c.Enforcement))
		if err != nil {
			return nil, err
		}
		held = &now
	}
	// What has been asked about as under a weaker level is judged so again: else it would be another question.
	judged := cmp.Or(sandbox.Level(c.Enforcement), levelOf(p.h))
	place, err := p.bs.place(&boxed{bs: p.bs, r: p.r, box: b, level: judged}, dir, *held)
	if err != nil {
		return nil, err
	}
	return p.r.Reg.Open(ctx, registry.OpenRequest{Principal: p.r.Key.Principal, Host: p.h, Reason: "sandbox", Place: &place})
}

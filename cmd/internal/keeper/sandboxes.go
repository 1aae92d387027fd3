package keeper

import (
	"context"
	"errors"
	"net/http"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
	"github.com/fairlead-ssh/fairlead/session/sandbox"
	"github.com/fairlead-ssh/fairlead/session/store"
)

type (
	newSandboxIn struct{ Body wire.NewSandbox }
	sandboxIn    struct {
		ID string `path:"id" maxLength:"80"`
	}
	changeSandboxIn struct {
		ID   string `path:"id" maxLength:"80"`
		Body wire.SandboxChange
	}
	sandboxesIn struct {
		Owner  string `query:"owner_principal_id" maxLength:"200"`
		Host   string `query:"host" maxLength:"255"`
		Limit  int    `query:"limit" minimum:"0" doc:"default 100, at most 1000"`
		Cursor string `query:"cursor" maxLength:"500"`
	}
)

const terminalTag = "terminal"

func (k *Keeper) addSandboxes(a *api) {
	const path = "/agent/terminal/sandboxes"
	add(a, route{method: "GET", path: path, id: "list-sandboxes", summary: "Sandboxes: one's own, or all for people", tag: terminalTag, need: access.NeedSee}, k.listSandboxes)
	add(a, route{method: "POST", path: path, id: "create-sandbox", summary: "Let a principal work in a directory", tag: terminalTag, need: access.NeedPlace, status: http.StatusCreated}, k.createSandbox)
	add(a, route{method: "GET", path: path + "/{id}", id: "get-sandbox", summary: "One sandbox", tag: terminalTag, need: access.NeedSee},
		func(ctx context.Context, c *access.Caller, in *sandboxIn) (*body[wire.Sandbox], error) {
			b, err := k.sandbox(ctx, c, in.ID)
			if err != nil {
				return nil, err
			}
			return sandboxOut(b), nil
		})
	add(a, route{method: "GET", path: path + "/{id}/enforcement", id: "check-sandbox", summary: "Connect as its owner, and see what holds them in a sandbox there", tag: terminalTag, need: access.NeedPlace}, k.checkSandbox)
	add(a, route{method: "PATCH", path: path + "/{id}", id: "change-sandbox", summary: "Change a sandbox", tag: terminalTag, need: access.NeedPlace}, k.changeSandbox)
	add(a, route{method: "DELETE", path: path + "/{id}", id: "delete-sandbox", summary: "Delete a sandbox; its commands stay", tag: terminalTag, need: access.NeedPlace, status: http.StatusNoContent},
		func(ctx context.Context, c *access.Caller, in *sandboxIn) (*none, error) {
			b, err := k.sandbox(ctx, c, in.ID)
			if err != nil {
				return nil, err
			}
			if err := k.administered(ctx, c, audit.Event{Kind: audit.SandboxDelete, ID: b.ID, Host: b.Host, Subject: b.Owner, Change: allows(b)}); err != nil {
				return nil, err
			}
			if err := k.cfg.Store.DeleteSandbox(ctx, in.ID); err != nil {
				return nil, err
			}
			k.desk.SandboxClosed(in.ID)
			return nil, nil
		})
}

func sandboxOut(b store.Sandbox) *body[wire.Sandbox] {
	s := sandboxJSON(b)
	return &body[wire.Sandbox]{&s}
}

func sandboxJSON(b store.Sandbox) wire.Sandbox {
	return wire.Sandbox{ID: b.ID, Owner: b.Owner, Host: b.Host, Label: b.Label, Path: b.Path, Active: b.Active, Network: b.Network, Created: b.Created, Updated: b.Updated}
}

// networkAccount is the network of a sandbox in which programs have that of the account.
const networkAccount = "account"

// networkIn is a network as the store keeps it.
func networkIn(said string) string {
	if said == networkAccount {
		return ""
	}
	return said
}

// sandbox finds one that a caller may see.
func (k *Keeper) sandbox(ctx context.Context, c *access.Caller, id string) (store.Sandbox, error) {
	b, err := k.cfg.Store.Sandbox(ctx, id)
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && b.Owner != c.Principal && !c.Role.May(access.NeedWatch):
		return b, problem.NotFound("sandbox", id)
	case err != nil:
		return b, err
	}
	return b, nil
}

func (k *Keeper) listSandboxes(ctx context.Context, c *access.Caller, in *sandboxesIn) (*body[wire.Sandboxes], error) {
	if !c.Role.May(access.NeedWatch) {
		if in.Owner != "" && in.Owner != c.Principal {
			return &body[wire.Sandboxes]{&wire.Sandboxes{Items: []wire.Sandbox{}}}, nil // it sees its own, and asks for another's
		}
		in.Owner = c.Principal
	}
	page, err := k.cfg.Store.Sandboxes(ctx, store.SandboxFilter{Owner: in.Owner, Host: in.Host}, store.Paging{Limit: in.Limit, Cursor: in.Cursor})
	if err != nil {
		return nil, err
	}
	out := &wire.Sandboxes{Items: make([]wire.Sandbox, len(page.Items)), Next: page.Next}
	for i, b := range page.Items {
		out.Items[i] = sandboxJSON(b)
	}
	return &body[wire.Sandboxes]{out}, nil
}

// ownerName is whom a sandbox may be for.
var ownerName = lazyregexp.New(`^(agent|operator|program)/[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$`)

func (k *Keeper) createSandbox(ctx context.Context, c *access.Caller, in *newSandboxIn) (*body[wire.Sandbox], error) {
	b := store.Sandbox{Owner: in.Body.Owner, Host: in.Body.Host, Label: in.Body.Label, Path: in.Body.Path, Active: true, Network: networkIn(in.Body.Network)}
	if b.Owner == "" {
		b.Owner = c.Principal
	}
	if b.Owner != c.Principal && !ownerName.MatchString(b.Owner) {
		return nil, problem.Invalid("owner_principal_id is agent/NAME, operator/NAME or program/NAME")
	}
	h, err := k.terminalHost(c, b.Host)
	if err != nil {
		return nil, err
	}
	b.Host = h.Name
	if err := boxOf(b).Validate(); err != nil {
		return nil, problem.Invalid("%v", err)
	}
	if b, err = k.cfg.Store.CreateSandbox(ctx, b); err != nil {
		return nil, err
	}
	if err := k.administered(ctx, c, audit.Event{Kind: audit.SandboxCreate, ID: b.ID, Host: b.Host, Subject: b.Owner, Change: allows(b)}); err != nil {
		return nil, errors.Join(err, k.cfg.Store.DeleteSandbox(context.WithoutCancel(ctx), b.ID))
	}
	return sandboxOut(b), nil
}

func (k *Keeper) changeSandbox(ctx context.Context, c *access.Caller, in *changeSandboxIn) (*body[wire.Sandbox], error) {
	b, err := k.sandbox(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	was := b
	if in.Body.Path != nil {
		b.Path = *in.Body.Path
		if err := boxOf(b).Validate(); err != nil {
			return nil, problem.Invalid("%v", err)
		}
	}
	if in.Body.Active != nil {
		b.Active = *in.Body.Active
	}
	if in.Body.Label != nil {
		b.Label = *in.Body.Label
	}
	if n := in.Body.Network; n != nil {
		said := networkIn(*n)
		in.Body.Network = &said
		b.Network = said
	}
	if err := k.administered(ctx, c, audit.Event{Kind: audit.SandboxChange, ID: b.ID, Host: b.Host, Subject: b.Owner, Change: changeOf(was, b)}); err != nil {
		return nil, err
	}
	b, err = k.cfg.Store.UpdateSandbox(ctx, in.ID, store.SandboxChange{Label: in.Body.Label, Path: in.Body.Path, Active: in.Body.Active, Network: in.Body.Network})
	if err != nil {
		return nil, err
	}
	if in.Body.Path != nil || !b.Active {
		k.desk.SandboxClosed(in.ID)
	}
	return sandboxOut(b), nil
}

func boxOf(b store.Sandbox) sandbox.Sandbox {
	id := b.ID
	if id == "" {
		id = "b_new"
	}
	return sandbox.Sandbox{ID: id, Principal: b.Owner, Host: b.Host, Label: b.Label, Path: b.Path, Active: b.Active, NoNetwork: b.Network == store.NetworkNone}
}

// terminalHost finds a sandbox's host, as the caller logs in to it. Sandboxes are of the keeper's own inventory, since they outlive whoever asks.
func (k *Keeper) terminalHost(c *access.Caller, name string) (hosts.Host, error) {
	if c.Inventory != k.cfg.Inventory {
		return hosts.Host{}, problem.Invalid("sandboxes are on hosts of the keeper's own inventory, %s: name that one", k.cfg.Inventory)
	}
	inv, err := k.inventories.as(c.Principal, source{path: k.cfg.Inventory})
	if err != nil {
		return hosts.Host{}, problem.New(http.StatusUnprocessableEntity, "inventory", "%v", err)
	}
	if name == "" {
		if inv.Len() != 1 {
			return hosts.Host{}, problem.Invalid("host says which of the inventory's %d hosts is meant", inv.Len())
		}
		for h := range inv.All() {
			return h, nil
		}
	}
	h, err := inv.Lookup(name)
	if err != nil {
		return h, problem.New(http.StatusNotFound, "not_found", "%v", err)
	}
	return h, nil
}

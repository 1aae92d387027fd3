// Package boxes owns sandboxes: the API of them and of their commands, what holds a session in one on its host, and what decides
// about commands there. Package sandboxed runs the commands.
package boxes

import (
	"cmp"
	"context"
	"errors"
	"log"
	"net/http"
	"time"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/connect"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/events"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/realm"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/route"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/sandboxed"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/thismachine"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/id"
	"github.com/fairlead-ssh/fairlead/session/redact"
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
		Limit  int    `query:"limit" minimum:"0" maximum:"200" doc:"how many (default 50)"`
		Cursor string `query:"cursor" maxLength:"500"`
	}
)

const terminalTag = "terminal"

// Config says what sandboxes need. Without a Store there are none.
type Config struct {
	Store       *store.Store
	ID          string // of the keeper in the store
	Inventory   string // whose hosts have sandboxes
	Inventories *connect.Inventories
	Realms      *realm.Book
	Machine     *thismachine.Machine
	Own         []string // files and directories of the keeper's own
	AuthSock    string   // of the agent's socket
	Confine     []string // what calls sandbox.Confine on this machine; nil is nothing
	NoWrap      bool     // as if there were no bubblewrap

	AuditDir string
	Record   access.Record
	Desk     *approval.Desk
	Secrets  *redact.Set
	Log      *log.Logger
	Now      func() time.Time                                                      // the store's clock
	Asks     func(ctx context.Context)                                             // is told before somebody is asked
	Answer   func(c *access.Caller, id string, approved bool, b wire.Answer) error // answers at the desk
	Ended    func(e wire.Event, c store.Command)                                   // is told of the end of each command
	Check    func(ctx context.Context) error                                       // is called with each sweep of the store

	ApprovalTimeout, Grace, Keep, Sweep, Look time.Duration // see sandboxed.Config

	Base context.Context // ends with the keeper
	Go   func(func())    // starts a goroutine that the keeper waits for
}

// Boxes are the sandboxes of a keeper. Make one with New.
type Boxes struct {
	Config
	Runner *sandboxed.Runner // nil without a store
}

// New returns the sandboxes that the store of cfg has.
func New(cfg Config) *Boxes {
	bs := &Boxes{Config: cfg}
	if cfg.Store != nil {
		bs.Runner = bs.newRunner()
	}
	return bs
}

// Add adds the routes of sandboxes and their commands.
func (bs *Boxes) Add(a *route.API) {
	bs.addCommands(a)
	const path = "/agent/terminal/sandboxes"
	route.Add(a, route.Route{Method: "GET", Path: path, ID: "list-sandboxes", Summary: "Sandboxes: one's own, or all for people", Tag: terminalTag, Need: access.NeedSee}, bs.listSandboxes)
	route.Add(a, route.Route{Method: "POST", Path: path, ID: "create-sandbox", Summary: "Let a principal work in a directory", Tag: terminalTag, Need: access.NeedPlace, Status: http.StatusCreated}, bs.createSandbox)
	route.Add(a, route.Route{Method: "GET", Path: path + "/{id}", ID: "get-sandbox", Summary: "One sandbox", Tag: terminalTag, Need: access.NeedSee},
		func(ctx context.Context, c *access.Caller, in *sandboxIn) (*route.Body[wire.Sandbox], error) {
			b, err := bs.sandbox(ctx, c, in.ID)
			if err != nil {
				return nil, err
			}
			return sandboxOut(b), nil
		})
	route.Add(a, route.Route{Method: "GET", Path: path + "/{id}/enforcement", ID: "check-sandbox", Summary: "Connect as its owner, and see what holds them in a sandbox there", Tag: terminalTag, Need: access.NeedPlace}, bs.checkSandbox)
	route.Add(a, route.Route{Method: "PATCH", Path: path + "/{id}", ID: "change-sandbox", Summary: "Change a sandbox", Tag: terminalTag, Need: access.NeedPlace}, bs.changeSandbox)
	route.Add(a, route.Route{Method: "DELETE", Path: path + "/{id}", ID: "delete-sandbox", Summary: "Delete a sandbox; its commands stay", Tag: terminalTag, Need: access.NeedPlace, Status: http.StatusNoContent},
		func(ctx context.Context, c *access.Caller, in *sandboxIn) (*route.None, error) {
			b, err := bs.sandbox(ctx, c, in.ID)
			if err != nil {
				return nil, err
			}
			if err := bs.Record.Administered(ctx, c, audit.Event{Kind: audit.SandboxDelete, ID: b.ID, Host: b.Host, Subject: b.Owner, Change: allows(b)}); err != nil {
				return nil, err
			}
			if err := bs.Store.DeleteSandbox(ctx, in.ID); err != nil {
				return nil, err
			}
			bs.Desk.SandboxClosed(in.ID)
			return nil, nil
		})
}

func sandboxOut(b store.Sandbox) *route.Body[wire.Sandbox] {
	s := sandboxJSON(b)
	return route.JSON(&s)
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
func (bs *Boxes) sandbox(ctx context.Context, c *access.Caller, id string) (store.Sandbox, error) {
	b, err := bs.Store.Sandbox(ctx, id)
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && b.Owner != c.Principal && !c.Role.May(access.NeedWatch):
		return b, problem.NotFound("sandbox", id)
	case err != nil:
		return b, err
	}
	return b, nil
}

func (bs *Boxes) listSandboxes(ctx context.Context, c *access.Caller, in *sandboxesIn) (*route.Body[wire.Sandboxes], error) {
	if !c.Role.May(access.NeedWatch) {
		if in.Owner != "" && in.Owner != c.Principal {
			return route.JSON(&wire.Sandboxes{Items: []wire.Sandbox{}}), nil // it sees its own, and asks for another's
		}
		in.Owner = c.Principal
	}
	page, err := bs.Store.Sandboxes(ctx, store.SandboxFilter{Owner: in.Owner, Host: in.Host}, store.Paging{Limit: in.Limit, Cursor: in.Cursor})
	if err != nil {
		return nil, err
	}
	out := &wire.Sandboxes{Items: make([]wire.Sandbox, len(page.Items)), Next: page.Next}
	for i, b := range page.Items {
		out.Items[i] = sandboxJSON(b)
	}
	return route.JSON(out), nil
}

// ownerName is whom a sandbox may be for.
var ownerName = lazyregexp.New(`^(agent|operator|program)/[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$`)

func (bs *Boxes) createSandbox(ctx context.Context, c *access.Caller, in *newSandboxIn) (*route.Body[wire.Sandbox], error) {
	b := store.Sandbox{Owner: in.Body.Owner, Host: in.Body.Host, Label: in.Body.Label, Path: in.Body.Path, Active: true, Network: networkIn(in.Body.Network)}
	if b.Owner == "" {
		b.Owner = c.Principal
	}
	if b.Owner != c.Principal && !ownerName.MatchString(b.Owner) {
		return nil, problem.Invalid("owner_principal_id is agent/NAME, operator/NAME or program/NAME")
	}
	h, err := bs.terminalHost(c, b.Host)
	if err != nil {
		return nil, err
	}
	b.Host = h.Name
	if err := boxOf(b).Validate(); err != nil {
		return nil, problem.Invalid("%v", err)
	}
	b.ID = id.New("b_")
	if err := bs.Record.Administered(ctx, c, audit.Event{Kind: audit.SandboxCreate, ID: b.ID, Host: b.Host, Subject: b.Owner, Change: allows(b)}); err != nil {
		return nil, err
	}
	if b, err = bs.Store.CreateSandbox(ctx, b); err != nil {
		return nil, err
	}
	return sandboxOut(b), nil
}

func (bs *Boxes) changeSandbox(ctx context.Context, c *access.Caller, in *changeSandboxIn) (*route.Body[wire.Sandbox], error) {
	b, err := bs.sandbox(ctx, c, in.ID)
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
		if err := boxOf(b).Validate(); err != nil {
			return nil, problem.Invalid("%v", err)
		}
	}
	if n := in.Body.Network; n != nil {
		said := networkIn(*n)
		in.Body.Network = &said
		b.Network = said
	}
	if err := bs.Record.Administered(ctx, c, audit.Event{Kind: audit.SandboxChange, ID: b.ID, Host: b.Host, Subject: b.Owner, Change: changeOf(was, b)}); err != nil {
		return nil, err
	}
	b, err = bs.Store.UpdateSandbox(ctx, in.ID, store.SandboxChange{Label: in.Body.Label, Path: in.Body.Path, Active: in.Body.Active, Network: in.Body.Network})
	if err != nil {
		return nil, err
	}
	if in.Body.Path != nil || in.Body.Network != nil || !b.Active { // approvals were for the sandbox as it was
		bs.Desk.SandboxClosed(in.ID)
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
func (bs *Boxes) terminalHost(c *access.Caller, name string) (hosts.Host, error) {
	if c.Inventory != bs.Inventory {
		return hosts.Host{}, problem.Invalid("sandboxes are on hosts of the keeper's own inventory, %s: name that one", bs.Inventory)
	}
	inv, err := bs.Inventories.As(c.Principal, connect.Source{Path: bs.Inventory})
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

// allows says what a sandbox lets its owner use.
func allows(b store.Sandbox) string {
	text := "path " + b.Path
	if b.Label != "" {
		text += ", label " + b.Label
	}
	if b.Network != "" {
		text += ", network " + b.Network
	}
	if !b.Active {
		text += ", not active"
	}
	return text
}

// changeOf says how a sandbox changes.
func changeOf(was, is store.Sandbox) string { return "from " + allows(was) + " to " + allows(is) }

// commandEnded tells that a command in a sandbox has, once that is kept: one event for each, whether it ran or not. approval
// is the ask that was answered; "" leaves that to its Result.
func (bs *Boxes) commandEnded(c store.Command, approval string) {
	e := wire.Event{
		Kind: "done", ID: c.ID, Command: c.ID, Approval: approval, Principal: c.RequestedBy, Host: c.Host, Status: c.Outcome, ExitCode: c.ExitCode,
	}
	if r := commandJSON(c).Exec; r != nil {
		e.ID, e.Exec, e.Approval = r.Exec, r.Exec, cmp.Or(approval, events.ApprovalOf(r.Decision.Approval))
	}
	bs.Ended(e, c)
}

package boxes

import (
	"context"
	"fmt"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/connect"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/route"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/framing"
	"github.com/fairlead-ssh/fairlead/session/sandbox"
)

// checkSandbox connects to a sandbox's host as its owner logs in there, and says what would hold a session of theirs. The
// record says who wanted to know. Nobody's SSH agent is lent to somebody else for it.
func (bs *Boxes) checkSandbox(ctx context.Context, c *access.Caller, in *sandboxIn) (*route.Body[wire.Enforcement], error) {
	b, err := bs.sandbox(ctx, c, in.ID)
	if err != nil {
		return nil, err
	}
	who := &access.Caller{Principal: b.Owner, Inventory: bs.Inventory}
	h, err := bs.terminalHost(who, b.Host)
	if err != nil {
		return nil, err
	}
	r, done, err := bs.Realms.Of(who)
	if err != nil {
		return nil, err
	}
	defer done()
	ctx, stop := context.WithTimeout(ctx, route.BeforeSending)
	defer stop()
	if b.Owner != c.Principal {
		ctx = connect.WithAuthSock(ctx, "")
	}
	look, s := r.LookFor(h, "sandbox check by "+c.Principal), boxOf(b)
	word, err := framing.Quote(s.Path)
	if err != nil {
		return nil, problem.Invalid("path: %v", err)
	}
	there, err := look(ctx, h.Name, "(cd -- "+word+") >/dev/null 2>&1 && printf there || printf missing")
	if err != nil {
		return nil, err
	}
	at, err := sandbox.Remote{Run: look}.Resolve(ctx, h.Name, "/", []string{s.Path})
	if err != nil {
		return nil, err
	}
	e := sandbox.Enforcement{Level: levelOf(h), Why: fmt.Sprintf("%s cannot be entered there: nothing can run in it", s.Path)}
	if there == "there" {
		if e, err = bs.held(ctx, r, h, s, look, ""); err != nil {
			return nil, err
		}
	}
	return route.JSON(&wire.Enforcement{Level: string(e.Level), How: e.How, Why: e.Why, Open: e.Open, Directory: there, LeadsTo: at[0]}), nil
}

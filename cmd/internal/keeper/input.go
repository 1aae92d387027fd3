package keeper

import (
	"context"
	"regexp"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/params"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/route"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/registry"
	"github.com/fairlead-ssh/fairlead/session/store"
)

type inputIn struct {
	ID   string `path:"id" maxLength:"80" doc:"of a command of one's own"`
	Key  string `header:"Idempotency-Key" maxLength:"200" doc:"what is sent again with its key is typed once, for 24 hours"`
	Body wire.Input
}

func (k *Keeper) input(ctx context.Context, c *access.Caller, in *inputIn) (*resultOut, error) {
	engine, err := k.realms.Admit(c)
	if err != nil {
		return nil, err
	}
	x, err := k.realms.Exec(c, in.ID)
	if err != nil {
		return nil, err
	}
	b := &in.Body
	def := time.Duration(0)
	if b.WaitFor != "" {
		def = route.DefaultWait
	}
	wait, err := params.Seconds("wait_s", b.WaitS, def, route.MaxWait)
	if err != nil {
		return nil, err
	}
	w := registry.Wait{Prompt: true, From: x.Printed()}
	if b.WaitFor != "" {
		if w.Pattern, err = regexp.Compile(b.WaitFor); err != nil || len(b.WaitFor) > 1000 {
			return nil, problem.Invalid("wait_for is not an RE2 pattern of at most 1000 bytes")
		}
	}
	once, err := k.firstInput(ctx, c, in)
	if err != nil {
		return nil, err
	}
	var t *session.Typing
	if err := once(func() (some bool, err error) { t, some, err = typed(ctx, x, b); return some, err }); err != nil {
		return nil, err
	}
	w.Typed = t
	k.await(ctx, x, wait, w)
	if ctx.Err() != nil && t != nil {
		t.Withdraw()
	}
	if err := x.Refusal(t); err != nil {
		return nil, err
	}
	budget, err := budgetOf(nil, engine.Limits(c.Principal))
	if err != nil {
		return nil, err
	}
	return k.show(c, x, budget)
}

// typed passes input on, and reports whether the command has got anything of it, or a person is asked about it.
func typed(ctx context.Context, x *registry.Exec, b *wire.Input) (t *session.Typing, some bool, err error) {
	if b.Text != "" || len(b.Keys) > 0 {
		if t, err = x.Type(ctx, b.Text, b.Keys...); err != nil {
			return nil, false, err
		}
		some = true
	}
	if b.Signal == "" {
		return t, some, nil
	}
	err = x.Signal(ctx, b.Signal)
	return t, some || err == nil, err
}

// firstInput returns what does a thing if this input was not sent before with its key.
func (k *Keeper) firstInput(ctx context.Context, c *access.Caller, in *inputIn) (once func(func() (bool, error)) error, err error) {
	if k.cfg.Store == nil || in.Key == "" {
		return func(do func() (bool, error)) error {
			_, err := do()
			return err
		}, nil
	}
	what := in.Body
	what.WaitFor, what.WaitS = "", nil
	key := store.Key{Principal: c.Principal, Key: in.Key, Target: in.ID, Request: params.JSON(struct {
		Exec  string
		Input wire.Input
	}{in.ID, what})}
	was, err := k.cfg.Store.ClaimKey(ctx, key)
	switch {
	case err != nil:
		return nil, err
	case was.State == store.KeyConflict:
		return nil, problem.KeyUsed()
	case was.State == store.KeySame:
		return func(func() (bool, error)) error { return nil }, nil
	}
	return func(do func() (bool, error)) error {
		some, err := do()
		if err != nil && !some {
			if rerr := k.cfg.Store.ReleaseKey(context.WithoutCancel(ctx), key); rerr != nil {
				k.log.Printf("an idempotency key was not given back: %v", rerr)
			}
		}
		return err
	}, nil
}

// typedJSON tells of what somebody had to approve before it was typed.
func typedJSON(x *registry.Exec) *wire.Typed {
	state, why := x.Typed()
	if state == "" {
		return nil
	}
	out := &wire.Typed{State: state}
	if why != nil {
		p := problem.Of(why)
		out.Error = &session.ErrorJSON{Code: p.Code, Message: p.Detail, Retriable: p.Retriable}
	}
	return out
}

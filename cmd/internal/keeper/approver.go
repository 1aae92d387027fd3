package keeper

import (
	"context"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/sandboxed"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// approver asks at the desk, but for commands that have their answer already.
type approver struct{ k *Keeper }

// Approve implements policy.Approver.
func (a approver) Approve(ctx context.Context, q policy.Question) (policy.Answer, error) {
	if answer, given, err := sandboxed.Given(ctx, q); given {
		return answer, err
	}
	a.k.asks(ctx)
	if c := access.CallerOf(ctx); c != nil && c.Token != "" { // what is pending goes with the token, however long ago it was requested
		var leave func()
		ctx, leave = c.Use(ctx)
		defer leave()
	}
	return a.k.desk.Approve(ctx, a.k.byStore(q))
}

// ForSession implements policy.SessionApprover. A command in a sandbox brings its answer along.
func (a approver) ForSession(ctx context.Context, q policy.Question) (policy.Answer, bool) {
	if answer, given, err := sandboxed.Given(ctx, q); given {
		return answer, err == nil && answer.ForSession != ""
	}
	return a.k.desk.ForSession(q)
}

// asks notes whose process tree is about to ask, so that it does not answer: where an agent asks that is known by the marks
// in its environment, as by fairlead exec.
func (k *Keeper) asks(ctx context.Context) {
	if c := access.CallerOf(ctx); c != nil && c.Role == access.Agent && c.Pid > 0 {
		k.trees.AskedMarked(c.Pid)
	}
}

package keeper

import (
	"context"
	"net/http"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/route"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/store"
)

// A request that was answered may be in progress for a moment still.
const (
	leavePatience = 2 * time.Second
	leaveEvery    = 5 * time.Millisecond
)

func (k *Keeper) addLeave(a *route.API) {
	route.Add(a, route.Route{Method: "POST", Path: "/v1/keeper/leave", ID: "leave-keeper", Tag: "keeper", Need: access.NeedOwn, Status: http.StatusAccepted,
		Summary: "End the keeper if nothing is lost by that, for a newer one: 409 says what would be"},
		func(ctx context.Context, _ *access.Caller, _ *route.None) (*route.None, error) {
			return nil, k.leave(ctx)
		})
}

// leave ends a keeper that has nothing to lose and that was started on first use, as the next one will be.
func (k *Keeper) leave(ctx context.Context) error {
	if !k.cfg.Auto {
		return problem.New(http.StatusConflict, "busy", "it was started by hand, and only who has started it knows how")
	}
	for until := time.Now().Add(leavePatience); ; {
		why, passing := k.leaveNow(ctx)
		switch {
		case why == "":
			return nil
		case !passing || time.Now().After(until):
			return problem.New(http.StatusConflict, "busy", "%s", why)
		}
		select {
		case <-time.After(leaveEvery):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// leaveNow ends the keeper, or says why not, and whether that may pass by itself. No request begins meanwhile.
func (k *Keeper) leaveNow(ctx context.Context) (why string, passing bool) {
	k.entrance.Lock()
	defer k.entrance.Unlock()
	if n := k.realms.Sessions(); n > 0 {
		return wire.SessionsOpen(n), false
	}
	if n := len(k.forwards.of("")); n > 0 {
		return "it forwards " + cmdutil.Count(n, "port"), false
	}
	for _, p := range k.desk.List() {
		if !k.kept(ctx, p.Question.Exec) {
			return "it has a pending question that no other keeper could ask again", false
		}
	}
	if k.answering.Load() > 1 {
		return "a request is being answered", true
	}
	k.left = true
	k.stop()
	return "", false
}

// kept reports whether a question is about a command that waits on in the store.
func (k *Keeper) kept(ctx context.Context, id string) bool {
	if k.boxes.Runner == nil || id == "" {
		return false
	}
	c, err := k.cfg.Store.Command(ctx, id)
	return err == nil && c.Status == store.Pending
}

package registry

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/rollout"
)

// rollOut runs the command on all hosts, or those at some places, as the Plan says.
func (f *Fleet) rollOut(req FleetRequest, forks int, only []int) {
	if req.Plan == nil {
		f.all(req, forks, only)
		return
	}
	x := &stepping{f: f, req: req, at: map[string]int{}, verifies: make([]bool, len(req.Hosts))}
	var hs []hosts.Host
	for i, h := range req.Hosts {
		if only == nil || slices.Contains(only, i) {
			f.note(i, nil, nil) // what was tried is not the end
			x.at[h.Name], hs = i, append(hs, h)
		}
	}
	plan := *req.Plan
	plan.Confirm, plan.Begin = nil, nil
	plan.Result, plan.Verified = x.result, x.verified
	report, err := plan.Run(f.ctx, x, hs, session.Command{Script: req.Command.Script, Group: f.id, Forks: forks})
	if err != nil { // no host that is left is a canary
		for _, h := range hs {
			f.note(x.at[h.Name], nil, fault("run", h.Name, rollout.CodeNotRun, true, "%w: %w", rollout.ErrNotRun, err))
		}
		return
	}
	f.mu.Lock()
	f.report = &report
	f.mu.Unlock()
}

// stepping runs the command of a fleet, and what verifies it, for a rollout.
type stepping struct {
	f        *Fleet
	req      FleetRequest
	at       map[string]int // the places of hosts
	verifies []bool         // by place: the command has succeeded, and what comes next verifies it
}

// Each runs what the rollout wants on its hosts.
func (x *stepping) Each(ctx context.Context, hs []hosts.Host, cmd session.Command) iter.Seq2[hosts.Host, session.Result] {
	return func(yield func(hosts.Host, session.Result) bool) {
		for _, h := range hs {
			if !yield(h, x.one(ctx, x.at[h.Name], cmd)) {
				return
			}
		}
	}
}

func (x *stepping) one(ctx context.Context, i int, cmd session.Command) (r session.Result) {
	if x.verifies[i] {
		req := x.req
		req.Command = Command{Script: cmd.Script, Reason: cmp.Or(cmd.Reason, req.Command.Reason), Timeout: req.Command.Timeout, SlotWait: req.Command.SlotWait, Unasked: true, group: x.f.id}
		e, err := x.f.on(ctx, req, i, func(*Exec) {})
		if err != nil {
			return without(req.Hosts[i], err)
		}
		return e.sx.Result()
	}
	x.f.member(ctx, i, x.req)
	m := x.f.Members()[i]
	if m.Exec == nil {
		return without(m.Host, m.Err)
	}
	r = m.Exec.sx.Result()
	x.verifies[i] = r.Status == session.StatusOK
	return r
}

// without is the Result of a command that has no Exec.
func without(h hosts.Host, err error) session.Result {
	e := asError("run", h.Name, err)
	r := session.Result{Host: h.Name, State: session.Done, Status: session.StatusError, Err: e}
	switch s := session.Status(e.Code); s {
	case session.StatusUnreachable, session.StatusAuth, session.StatusHostKey, session.StatusDenied, session.StatusExpired, session.StatusCanceled, session.StatusLost:
		r.Status = s
	}
	return r
}

// result notes what only the rollout knows of the end of a host.
func (x *stepping) result(h hosts.Host, r session.Result) {
	i := x.at[h.Name]
	switch {
	case r.Err == nil:
	case r.Err.Code == rollout.CodeNotRun:
		x.f.note(i, nil, r.Err)
	case r.Status == session.StatusTimeout && errors.Is(r.Err, rollout.ErrDeadline):
		x.f.mu.Lock()
		x.f.members[i].Late = true
		x.f.mu.Unlock()
	}
}

func (x *stepping) verified(h hosts.Host, r session.Result) {
	x.f.mu.Lock()
	defer x.f.mu.Unlock()
	x.f.members[x.at[h.Name]].Verified = &r
}

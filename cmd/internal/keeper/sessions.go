package keeper

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

type openIn struct{ Body wire.Open }

type sessionIn struct {
	ID string `path:"id" maxLength:"80" doc:"id or name of a session of one's own"`
}

func (k *Keeper) addSessions(a *api) {
	add(a, route{method: "GET", path: "/v1/sessions", id: "list-sessions", summary: "Sessions of one's own", tag: "sessions", need: needSee},
		func(_ context.Context, c *caller, _ *none) (*body[wire.Sessions], error) {
			out := &wire.Sessions{Items: []wire.Session{}}
			for _, r := range k.realmsOf(c) {
				for _, e := range r.reg.List(c.principal) {
					out.Items = append(out.Items, describe(c, e))
				}
			}
			slices.SortFunc(out.Items, func(a, b wire.Session) int { return a.Opened.Compare(b.Opened) })
			return &body[wire.Sessions]{out}, nil
		})
	add(a, route{method: "POST", path: "/v1/sessions", id: "open-session", summary: "Open a session", tag: "sessions", need: needRun, status: http.StatusCreated}, k.open)
	add(a, route{method: "GET", path: "/v1/sessions/{id}", id: "get-session", summary: "One session", tag: "sessions", need: needSee},
		func(ctx context.Context, c *caller, in *sessionIn) (*body[wire.Session], error) {
			e, err := k.entry(ctx, c, in.ID)
			if err != nil {
				return nil, err
			}
			s := describe(c, e)
			return &body[wire.Session]{&s}, nil
		})
	add(a, route{method: "DELETE", path: "/v1/sessions/{id}", id: "close-session", summary: "Close a session, and end what runs in it", tag: "sessions", need: needRun, status: http.StatusNoContent},
		func(ctx context.Context, c *caller, in *sessionIn) (*none, error) {
			e, err := k.entry(ctx, c, in.ID)
			if err != nil {
				return nil, err
			}
			e.Close()
			k.ended(ctx, e.ID())
			return nil, nil
		})
	add(a, route{method: "POST", path: "/v1/sessions/{id}/reset", id: "reset-session", summary: "Give a session a new shell in the same directory, and end what runs", tag: "sessions", need: needRun},
		func(ctx context.Context, c *caller, in *sessionIn) (*body[wire.Session], error) {
			e, err := k.entry(ctx, c, in.ID)
			if err != nil {
				return nil, err
			}
			e.Reset()
			s := describe(c, e)
			return &body[wire.Session]{&s}, nil
		})
}

func describe(c *caller, e *registry.Entry) wire.Session {
	s := wire.Session{
		ID: e.ID(), Name: e.Name(), Host: e.Host().Name, Shell: e.Shell(), CWD: e.Dir(), Opened: e.Opened().UTC(), Owner: c.principal,
		Sandbox: e.Sandbox(),
	}
	if x := e.Current(); x != nil {
		s.Exec = x.ID()
	}
	if x := e.Last(); x != nil {
		s.Last = x.ID()
	}
	return s
}

func (k *Keeper) open(ctx context.Context, c *caller, in *openIn) (*body[wire.Session], error) {
	engine, err := k.admit(c)
	if err != nil {
		return nil, err
	}
	r, done, err := k.realm(c)
	if err != nil {
		return nil, err
	}
	defer done()
	h, err := r.host(in.Body.Host)
	if err != nil {
		return nil, err
	}
	env, err := environment(engine, c, h, in.Body.Env)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeout(ctx, beforeSending)
	defer stop()
	req := registry.OpenRequest{
		Principal: c.principal, Host: h, Name: in.Body.Name, Dir: in.Body.CWD, Env: env, Shell: in.Body.Shell, Reason: in.Body.Reason,
	}
	if in.Body.Sandbox != "" {
		p, err := k.box(ctx, r, h, in.Body.Sandbox, in.Body.CWD)
		if err != nil {
			return nil, err
		}
		req.Place = &p
	}
	e, err := r.reg.Open(ctx, req)
	if err != nil {
		return nil, err
	}
	k.opened(ctx, c, e)
	s := describe(c, e)
	return &body[wire.Session]{&s}, nil
}

// admit counts a request that may run something, or refuses it; the engine holds for the rest of it.
func (k *Keeper) admit(c *caller) (*rules.Engine, error) {
	engine, err := k.policy.current()
	if err != nil {
		return nil, problem(http.StatusInternalServerError, "policy", "%v", err)
	}
	return engine, engine.Admit(c.principal, time.Now())
}

// environment takes the variables that a session is to have. An agent's change nothing but how programs present things,
// but for hosts where it may run anything.
func environment(engine *rules.Engine, c *caller, h hosts.Host, vars map[string]string) ([]string, error) {
	free := len(vars) > 0 && engine.Allows(c.principal, h, policy.Unknown)
	env := make([]string, 0, len(vars))
	for name, value := range vars {
		if !free && !policy.Inert(name) {
			return nil, problem(http.StatusForbidden, "denied", "the variable %.80q may change what commands mean: only %s may be set", name, policy.InertNames)
		}
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env, nil
}

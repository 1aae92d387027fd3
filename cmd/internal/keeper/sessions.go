package keeper

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/policy"
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

type openIn struct {
	Key  string `header:"Idempotency-Key" maxLength:"200" doc:"the same key with the same request gives the same session, for 24 hours"`
	Body wire.Open
}

type resetIn struct {
	ID  string `path:"id" maxLength:"80" doc:"id or name of a session of one's own"`
	Key string `header:"Idempotency-Key" maxLength:"200" doc:"what is sent again with its key resets once, for 24 hours"`
}

type sessionIn struct {
	ID string `path:"id" maxLength:"80" doc:"id or name of a session of one's own"`
}

func (k *Keeper) addSessions(a *api) {
	add(a, route{method: "GET", path: "/v1/sessions", id: "list-sessions", summary: "Sessions of one's own", tag: "sessions", need: access.NeedSee},
		func(_ context.Context, c *access.Caller, _ *none) (*body[wire.Sessions], error) {
			out := &wire.Sessions{Items: []wire.Session{}}
			for _, r := range k.realmsOf(c) {
				for _, e := range r.reg.List(c.Principal) {
					out.Items = append(out.Items, describe(c, e))
				}
			}
			slices.SortFunc(out.Items, func(a, b wire.Session) int { return a.Opened.Compare(b.Opened) })
			return &body[wire.Sessions]{out}, nil
		})
	add(a, route{method: "POST", path: "/v1/sessions", id: "open-session", summary: "Open a session", tag: "sessions", need: access.NeedRun, status: http.StatusCreated}, k.open)
	add(a, route{method: "GET", path: "/v1/sessions/{id}", id: "get-session", summary: "One session", tag: "sessions", need: access.NeedSee},
		func(ctx context.Context, c *access.Caller, in *sessionIn) (*body[wire.Session], error) {
			e, err := k.entry(ctx, c, in.ID)
			if err != nil {
				return nil, err
			}
			s := describe(c, e)
			return &body[wire.Session]{&s}, nil
		})
	add(a, route{method: "DELETE", path: "/v1/sessions/{id}", id: "close-session", summary: "Close a session, and end what runs in it", tag: "sessions", need: access.NeedRun, status: http.StatusNoContent},
		func(ctx context.Context, c *access.Caller, in *sessionIn) (*none, error) {
			e, err := k.entry(ctx, c, in.ID)
			if err != nil {
				return nil, err
			}
			e.Close()
			k.ended(ctx, e.ID())
			return nil, nil
		})
	add(a, route{method: "POST", path: "/v1/sessions/{id}/reset", id: "reset-session", summary: "Give a session a new shell in the same directory, and end what runs", tag: "sessions", need: access.NeedRun},
		func(ctx context.Context, c *access.Caller, in *resetIn) (*body[wire.Session], error) {
			e, err := k.entry(ctx, c, in.ID)
			if err != nil {
				return nil, err
			}
			_, err = once(ctx, k, c, in.Key, struct{ Reset string }{e.ID()}, func() (none, error) {
				e.Reset()
				return none{}, nil
			})
			if err != nil {
				return nil, err
			}
			s := describe(c, e)
			return &body[wire.Session]{&s}, nil
		})
}

func describe(c *access.Caller, e *registry.Entry) wire.Session {
	s := wire.Session{
		ID: e.ID(), Name: e.Name(), Host: e.Host().Name, Shell: e.Shell(), CWD: e.Dir(), Opened: e.Opened().UTC(), Owner: c.Principal,
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

func (k *Keeper) open(ctx context.Context, c *access.Caller, in *openIn) (*body[wire.Session], error) {
	engine, err := k.admit(c)
	if err != nil {
		return nil, err
	}
	id, err := once(ctx, k, c, in.Key, struct {
		Inventory string
		Open      wire.Open
	}{c.Where(), in.Body}, func() (string, error) { return k.opens(ctx, c, engine, &in.Body) })
	if err != nil {
		return nil, err
	}
	e, err := k.entry(ctx, c, id)
	if err != nil {
		return nil, err
	}
	s := describe(c, e)
	return &body[wire.Session]{&s}, nil
}

// opens opens a session, and returns its id.
func (k *Keeper) opens(ctx context.Context, c *access.Caller, engine *rules.Engine, b *wire.Open) (string, error) {
	r, done, err := k.realm(c)
	if err != nil {
		return "", err
	}
	defer done()
	h, err := r.host(b.Host)
	if err != nil {
		return "", err
	}
	env, err := environment(engine, c, h, b.Env)
	if err != nil {
		return "", err
	}
	ctx, stop := context.WithTimeout(ctx, beforeSending)
	defer stop()
	req := registry.OpenRequest{
		Principal: c.Principal, Host: h, Name: b.Name, Dir: b.CWD, Env: env, Shell: b.Shell, Reason: b.Reason,
	}
	if b.Sandbox != "" {
		p, err := k.box(ctx, r, h, b.Sandbox, b.CWD)
		if err != nil {
			return "", err
		}
		req.Place = &p
	}
	e, err := r.reg.Open(ctx, req)
	if err != nil {
		return "", err
	}
	k.opened(ctx, c, e)
	return e.ID(), nil
}

// admit counts a request that may run something, or refuses it; the engine holds for the rest of it.
func (k *Keeper) admit(c *access.Caller) (*rules.Engine, error) {
	engine, err := k.policy.current()
	if err != nil {
		return nil, problem.New(http.StatusInternalServerError, "policy", "%v", err)
	}
	return engine, engine.Admit(c.Principal, time.Now())
}

// environment takes the variables that a session is to have. An agent's change nothing but how programs present things,
// but for hosts where it may run anything.
func environment(engine *rules.Engine, c *access.Caller, h hosts.Host, vars map[string]string) ([]string, error) {
	env, err := registry.Variables(h.Name, vars)
	if err != nil {
		return nil, err
	}
	free := len(vars) > 0 && engine.Allows(c.Principal, h, policy.Unknown)
	for name := range vars {
		if !free && !policy.Inert(name) {
			return nil, problem.New(http.StatusForbidden, "denied", "the variable %.80q may change what commands mean: only %s may be set", name, policy.InertNames)
		}
	}
	return env, nil
}

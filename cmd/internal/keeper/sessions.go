package keeper

import (
	"context"
	"net/http"
	"slices"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/onlyonce"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/route"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
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

type closedOut struct {
	Status int
	Body   *wire.SessionLeft
}

type sessionIn struct {
	ID string `path:"id" maxLength:"80" doc:"id or name of a session of one's own"`
}

func (k *Keeper) addSessions(a *route.API) {
	route.Add(a, route.Route{Method: "GET", Path: "/v1/sessions", ID: "list-sessions", Summary: "Sessions of one's own", Tag: "sessions", Need: access.NeedSee},
		func(_ context.Context, c *access.Caller, _ *route.None) (*route.Body[wire.Sessions], error) {
			out := &wire.Sessions{Items: []wire.Session{}}
			for _, r := range k.realms.All(c) {
				for _, e := range r.Reg.List(c.Principal) {
					out.Items = append(out.Items, describe(c, e))
				}
			}
			slices.SortFunc(out.Items, func(a, b wire.Session) int { return a.Opened.Compare(b.Opened) })
			return route.JSON(out), nil
		})
	route.Add(a, route.Route{Method: "POST", Path: "/v1/sessions", ID: "open-session", Summary: "Open a session", Tag: "sessions", Need: access.NeedRun, Status: http.StatusCreated}, k.open)
	route.Add(a, route.Route{Method: "GET", Path: "/v1/sessions/{id}", ID: "get-session", Summary: "One session", Tag: "sessions", Need: access.NeedSee},
		func(ctx context.Context, c *access.Caller, in *sessionIn) (*route.Body[wire.Session], error) {
			e, err := k.realms.Entry(ctx, c, in.ID)
			if err != nil {
				return nil, err
			}
			s := describe(c, e)
			return route.JSON(&s), nil
		})
	route.Add(a, route.Route{Method: "DELETE", Path: "/v1/sessions/{id}", ID: "close-session", Summary: "Close a session, and end what runs in it", Tag: "sessions", Need: access.NeedRun, Also: []int{http.StatusNoContent},
		About: "204 where nothing of it is left on the host, and else 200 with the programs that are: those that were started with nohup or setsid."},
		func(ctx context.Context, c *access.Caller, in *sessionIn) (*closedOut, error) {
			e, err := k.realms.Entry(ctx, c, in.ID)
			if err != nil {
				return nil, err
			}
			left := e.Leaves(ctx)
			e.Close()
			k.ended(ctx, e.ID())
			if len(left) == 0 {
				return &closedOut{Status: http.StatusNoContent}, nil
			}
			out := &wire.SessionLeft{}
			for _, p := range left {
				out.Left = append(out.Left, wire.Process(p))
			}
			return &closedOut{Status: http.StatusOK, Body: out}, nil
		})
	route.Add(a, route.Route{Method: "POST", Path: "/v1/sessions/{id}/reset", ID: "reset-session", Summary: "Give a session a new shell in the same directory, and end what runs", Tag: "sessions", Need: access.NeedRun},
		func(ctx context.Context, c *access.Caller, in *resetIn) (*route.Body[wire.Session], error) {
			e, err := k.realms.Entry(ctx, c, in.ID)
			if err != nil {
				return nil, err
			}
			_, err = onlyonce.Do(ctx, k.onces, c.Principal, in.Key, struct{ Reset string }{e.ID()}, func() (route.None, error) {
				e.Reset()
				return route.None{}, nil
			})
			if err != nil {
				return nil, err
			}
			s := describe(c, e)
			return route.JSON(&s), nil
		})
}

// becoming is a host on which a request runs as an account; "" is what the inventory says.
func becoming(h hosts.Host, user string) (hosts.Host, error) {
	var err error
	if h.Become, err = h.Become.Called(user); err != nil {
		return h, problem.Invalid("become: %v", err)
	}
	return h, nil
}

func describe(c *access.Caller, e *registry.Entry) wire.Session {
	s := wire.Session{
		ID: e.ID(), Name: e.Name(), Host: e.Host().Name, Shell: e.Shell(), CWD: e.Dir(), Opened: e.Opened().UTC(), Owner: c.Principal,
		Sandbox: e.Sandbox(), Become: e.Host().Become.User,
	}
	if x := e.Current(); x != nil {
		s.Exec = x.ID()
	}
	if x := e.Last(); x != nil {
		s.Last = x.ID()
	}
	return s
}

func (k *Keeper) open(ctx context.Context, c *access.Caller, in *openIn) (*route.Body[wire.Session], error) {
	engine, err := k.realms.Admit(c)
	if err != nil {
		return nil, err
	}
	id, err := onlyonce.Do(ctx, k.onces, c.Principal, in.Key, struct {
		Inventory string
		Open      wire.Open
	}{c.Where(), in.Body}, func() (string, error) { return k.opens(ctx, c, engine, &in.Body) })
	if err != nil {
		return nil, err
	}
	e, err := k.realms.Entry(ctx, c, id)
	if err != nil {
		return nil, err
	}
	s := describe(c, e)
	return route.JSON(&s), nil
}

// opens opens a session, and returns its id.
func (k *Keeper) opens(ctx context.Context, c *access.Caller, engine *rules.Engine, b *wire.Open) (string, error) {
	r, done, err := k.realms.Of(c)
	if err != nil {
		return "", err
	}
	defer done()
	h, err := r.Host(b.Host)
	if err != nil {
		return "", err
	}
	if h, err = becoming(h, b.Become); err != nil {
		return "", err
	}
	env, err := registry.Variables(h.Name, b.Env)
	if err != nil {
		return "", err
	}
	var shaping []string // what needs an approval
	if len(env) > 0 && !engine.Allows(c.Principal, h, policy.Unknown) {
		env, shaping = registry.Shaping(env)
	}
	ctx, stop := context.WithTimeout(ctx, route.BeforeSending)
	defer stop()
	req := registry.OpenRequest{
		Principal: c.Principal, Host: h, Name: b.Name, Dir: b.CWD, Env: env, Shell: b.Shell, Reason: b.Reason,
	}
	if b.Sandbox != "" {
		p, err := k.boxes.Box(ctx, r, h, b.Sandbox, b.CWD)
		if err != nil {
			return "", err
		}
		req.Place = &p
	}
	e, err := r.Reg.Open(ctx, req)
	if err != nil {
		return "", err
	}
	if len(shaping) > 0 {
		if err := export(ctx, e, shaping, b.Reason); err != nil {
			return "", err
		}
	}
	k.opened(ctx, c, e)
	return e.ID(), nil
}

// export has variables set that may change what commands mean. It returns once that is done or awaits approval.
func export(ctx context.Context, e *registry.Entry, vars []string, reason string) error {
	x, err := e.Export(ctx, vars, reason)
	if err != nil {
		return err
	}
	if x.Awaiting() {
		return nil
	}
	if err := x.Wait(ctx); err != nil {
		x.Stop()
		return err
	}
	v, err := x.View(registry.Budgets{})
	switch r := &v.Result; {
	case err != nil:
		return err
	case r.Err != nil:
		return r.Err
	case r.Status != session.StatusOK:
		return problem.Invalid("the variables were not set, and no session is open: the shell refused them")
	}
	return nil
}

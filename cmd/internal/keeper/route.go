package keeper

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/limit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/stream"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/approval"
)

// api is where routes are added.
type api struct {
	huma.API

	trees  *approval.Trees // says which processes may give themselves nothing
	refuse func(w http.ResponseWriter, reason string, p *wire.Problem)
}

// route is one.
type route struct {
	method, path string
	id, summary  string
	about        string // what its callers must know besides
	tag          string
	need         access.Need
	status       int   // when all is well; 0 means 200
	also         []int // statuses with the same answer
	body         int64 // bytes of a request; 0 means maxBody
}

// add adds a route. Who may not use it is told so before the request is looked at.
func add[I, O any](a *api, r route, handle func(ctx context.Context, c *access.Caller, in *I) (*O, error)) {
	op := huma.Operation{
		Method: r.method, Path: r.path, OperationID: r.id, Summary: r.summary, Description: r.about, Tags: []string{r.tag}, DefaultStatus: r.status,
		MaxBodyBytes: cmp.Or(r.body, maxBody) + 1, BodyReadTimeout: -1, // whole has seen to both; the library takes less than it says
		Errors:      []int{http.StatusForbidden, http.StatusTooManyRequests},
		Responses:   map[string]*huma.Response{},
		Middlewares: huma.Middlewares{func(ctx huma.Context, next func(huma.Context)) { a.check(r.need, ctx, next) }},
	}
	if r.need != access.NeedNothing {
		op.Security = []map[string][]string{{"token": {}}}
	}
	huma.Register(a.API, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := handle(ctx, access.CallerOf(ctx), in)
		if err != nil {
			return nil, problem.Of(err)
		}
		return out, nil
	})
	for _, status := range r.also {
		as := *op.Responses[strconv.Itoa(cmp.Or(r.status, http.StatusOK))]
		as.Description = http.StatusText(status)
		op.Responses[strconv.Itoa(status)] = &as
	}
}

func (a *api) check(n access.Need, ctx huma.Context, next func(huma.Context)) {
	r, w := humago.Unwrap(ctx)
	if p := a.deny(access.CallerOf(ctx.Context()), n); p != nil {
		a.refuse(w, "role", p)
		return
	}
	if p := a.strange(r); p != nil {
		problem.Write(w, p)
		return
	}
	next(ctx)
}

// guard is check for handlers that are not described.
func (a *api) guard(n access.Need, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p := a.deny(access.CallerOf(r.Context()), n); p != nil {
			a.refuse(w, "role", p)
			return
		}
		if p := a.strange(r); p != nil {
			problem.Write(w, p)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// deny says why a caller may not do what takes a need; nil where it may.
func (a *api) deny(c *access.Caller, n access.Need) *wire.Problem {
	switch {
	case c == nil:
		return problem.New(http.StatusUnauthorized, "auth", "the request has no caller")
	case !c.Role.May(n):
		return problem.New(http.StatusForbidden, "forbidden", "%s (%s) may not do this: it takes the right to %s", c.Principal, c.Role, n)
	case access.Personal[n]:
		if err := a.trees.Admit(c.Pid); err != nil {
			return problem.New(http.StatusForbidden, "denied", "%s", cmdutil.Text(err))
		}
	}
	return nil
}

// body is an answer that is nothing but JSON.
type body[T any] struct{ Body *T }

type none struct{}

// answer is one that is nothing but v.
func answer[T any](v *T) *body[T] { return &body[T]{v} }

// newAPI returns where routes are added.
func newAPI(a huma.API, trees *approval.Trees, refuse func(w http.ResponseWriter, reason string, p *wire.Problem)) *api {
	return &api{API: a, trees: trees, refuse: refuse}
}

// addStream adds a route that answers with server-sent events.
func addStream[I any](a *api, r route, open func(ctx context.Context, c *access.Caller, in *I) (func(huma.Context), error)) {
	add(a, r, func(ctx context.Context, c *access.Caller, in *I) (*huma.StreamResponse, error) {
		body, err := open(ctx, c, in)
		if err != nil {
			return nil, err
		}
		return &huma.StreamResponse{Body: func(hc huma.Context) {
			limit.Decoded(hc.Context())
			body(hc)
			stream.Farewell(hc)
		}}, nil
	})
	op := a.OpenAPI().Paths[r.path].Get
	if r.method == http.MethodPost {
		op = a.OpenAPI().Paths[r.path].Post
	}
	op.Responses["200"] = &huma.Response{
		Description: "Server-sent events; the last one is “problem” where the right to read them has ended", Content: map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}}},
	}
}

// Bounds of requests, and of what they wait for.
const (
	defaultWait   = 30 * time.Second
	maxWait       = 50 * time.Second
	agentTimeout  = 10 * time.Minute
	maxTimeout    = 30 * 24 * time.Hour
	beforeSending = 5 * time.Minute // connecting, logging in with a key that is touched, and starting a shell
	defaultPage   = 256 << 10
	maxPage       = 4 << 20
	maxEventsOnce = 256
	maxBody       = 2 << 20
)

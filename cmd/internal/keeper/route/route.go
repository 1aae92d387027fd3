package route

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
	"github.com/fairlead-ssh/fairlead/session/policy/rules"
)

// A member of a body is named as the schema names it. The library takes any case, checks one member of several, and decodes them
// all.
func init() { huma.ValidateStrictCasing = true }

// API is where routes are added.
type API struct {
	huma.API

	trees  *approval.Trees // says which processes may give themselves nothing
	refuse func(w http.ResponseWriter, reason string, p *wire.Problem)
}

// Route is one.
type Route struct {
	Method, Path string
	ID, Summary  string
	About        string // what its callers must know besides
	Tag          string
	Need         access.Need
	Status       int   // when all is well; 0 means 200
	Also         []int // statuses with the same answer, but for 204, which has none
	Body         int64 // bytes of a request; 0 means maxBody
}

// Add adds a route. Who may not use it is told so before the request is looked at.
func Add[I, O any](a *API, r Route, handle func(ctx context.Context, c *access.Caller, in *I) (*O, error)) {
	op := huma.Operation{
		Method: r.Method, Path: r.Path, OperationID: r.ID, Summary: r.Summary, Description: r.About, Tags: []string{r.Tag}, DefaultStatus: r.Status,
		MaxBodyBytes: cmp.Or(r.Body, MaxBody) + 1, BodyReadTimeout: -1, // whole has seen to both; the library takes less than it says
		Errors:      []int{http.StatusForbidden, http.StatusTooManyRequests},
		Responses:   map[string]*huma.Response{},
		Middlewares: huma.Middlewares{func(ctx huma.Context, next func(huma.Context)) { a.check(r.Need, ctx, next) }},
	}
	if r.Need != access.NeedNothing {
		op.Security = []map[string][]string{{"token": {}}}
	}
	huma.Register(a.API, op, func(ctx context.Context, in *I) (*O, error) {
		out, err := handle(ctx, access.CallerOf(ctx), in)
		if err != nil {
			return nil, problem.Of(err)
		}
		return out, nil
	})
	for _, status := range r.Also {
		as := *op.Responses[strconv.Itoa(cmp.Or(r.Status, http.StatusOK))]
		as.Description = http.StatusText(status)
		if status == http.StatusNoContent {
			as.Content = nil
		}
		op.Responses[strconv.Itoa(status)] = &as
	}
}

func (a *API) check(n access.Need, ctx huma.Context, next func(huma.Context)) {
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

// Guard is check for handlers that are not described.
func (a *API) Guard(n access.Need, h http.Handler) http.Handler {
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
func (a *API) deny(c *access.Caller, n access.Need) *wire.Problem {
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

// Body is an answer that is nothing but JSON.
type Body[T any] struct{ Body *T }

type None struct{}

// JSON is one that is nothing but v.
func JSON[T any](v *T) *Body[T] { return &Body[T]{v} }

// New returns where routes are added.
func New(a huma.API, trees *approval.Trees, refuse func(w http.ResponseWriter, reason string, p *wire.Problem)) *API {
	return &API{API: a, trees: trees, refuse: refuse}
}

// AddStream adds a route that answers with server-sent events.
func AddStream[I any](a *API, r Route, open func(ctx context.Context, c *access.Caller, in *I) (func(huma.Context), error)) {
	Add(a, r, func(ctx context.Context, c *access.Caller, in *I) (*huma.StreamResponse, error) {
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
	op := a.OpenAPI().Paths[r.Path].Get
	if r.Method == http.MethodPost {
		op = a.OpenAPI().Paths[r.Path].Post
	}
	op.Responses["200"] = &huma.Response{
		Description: "Server-sent events; the last one is “problem” where the right to read them has ended", Content: map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}}},
	}
}

// Bounds of requests, and of what they wait for.
const (
	DefaultWait   = 30 * time.Second
	MaxWait       = 50 * time.Second
	AgentTimeout  = rules.AgentTimeout
	MaxTimeout    = 30 * 24 * time.Hour
	BeforeSending = 5 * time.Minute // connecting, logging in with a key that is touched, and starting a shell
	DefaultPage   = 256 << 10
	MaxPage       = 4 << 20
	MaxBody       = 2 << 20
)

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
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// routes builds the API. Every route says what it needs; see table.
func (k *Keeper) routes() http.Handler {
	mux := http.NewServeMux()
	cfg := huma.DefaultConfig("Fairlead", k.cfg.Version)
	cfg.Info.Description = "Runs commands on machines, exactly, safely and audited. Errors are problem details (RFC 9457) with a code."
	cfg.DocsPath, cfg.SchemasPath, cfg.CreateHooks = "", "", nil // no page, and no links in answers
	cfg.Transformers = []huma.Transformer{problem.Reword}
	cfg.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"token": {Type: "http", Scheme: "bearer", Description: "Over TCP. Callers on the unix socket are known by their account."},
	}
	a := &api{k: k, API: humago.New(mux, cfg)}
	k.addHealth(a)
	k.addHosts(a)
	k.addSessions(a)
	k.addExecs(a)
	k.addStreams(a)
	k.addRuns(a)
	k.addFiles(a)
	k.addJobs(a)
	k.addApprovals(a)
	k.addQuestions(a)
	k.addForSession(a)
	k.addAudit(a)
	k.addWatch(a)
	k.addRecordings(a)
	k.addSearch(a)
	k.addWeb(a)
	if k.term != nil {
		k.addSandboxes(a)
		k.addTerminal(a)
		k.addTokens(a)
	}
	k.addStdin(a, mux)
	k.addFilesOut(a, mux)
	k.addSockets(a, mux)
	a.describe()
	k.addMCP(a, mux)
	mux.Handle(everything, misrouted(mux))
	mux.Handle("GET /metrics", a.guard(access.NeedWatch, k.metrics))
	return tidy(mux)
}

// api is where routes are added.
type api struct {
	huma.API
	k *Keeper
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
	if p := a.k.deny(access.CallerOf(ctx.Context()), n); p != nil {
		a.k.refuse(w, "role", p)
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
		if p := a.k.deny(access.CallerOf(r.Context()), n); p != nil {
			a.k.refuse(w, "role", p)
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
func (k *Keeper) deny(c *access.Caller, n access.Need) *wire.Problem {
	switch {
	case c == nil:
		return problem.New(http.StatusUnauthorized, "auth", "the request has no caller")
	case !c.Role.May(n):
		return problem.New(http.StatusForbidden, "forbidden", "%s (%s) may not do this: it takes the right to %s", c.Principal, c.Role, n)
	case access.Personal[n]:
		if err := k.trees.Admit(c.Pid); err != nil {
			return problem.New(http.StatusForbidden, "denied", "%s", cmdutil.Text(err))
		}
	}
	return nil
}

// body is an answer that is nothing but JSON.
type body[T any] struct{ Body *T }

type none struct{}

func (k *Keeper) addHealth(a *api) {
	add(a, route{method: "GET", path: "/healthz", id: "health", summary: "Whether the keeper lives, and what its gate is worth", tag: "keeper"},
		func(_ context.Context, c *access.Caller, _ *none) (*body[wire.Health], error) {
			h := k.health(c)
			return &body[wire.Health]{&h}, nil
		})
	add(a, route{method: "POST", path: "/v1/keeper/stop", id: "stop-keeper", summary: "End the keeper and everything it holds", tag: "keeper",
		need: access.NeedOwn, status: http.StatusAccepted},
		func(context.Context, *access.Caller, *none) (*none, error) {
			k.stop()
			return nil, nil
		})
	k.addLeave(a)
}

// Times.
const (
	defaultWait    = 30 * time.Second
	maxWait        = 50 * time.Second
	agentTimeout   = 10 * time.Minute
	maxTimeout     = 30 * 24 * time.Hour
	beforeSending  = 5 * time.Minute // connecting, logging in with a key that is touched, and starting a shell
	defaultPage    = 256 << 10
	maxPage        = 4 << 20
	maxEventsOnce  = 256
	keepAliveEvery = 15 * time.Second // of streams that have nothing to say
)

package keeper

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/auditlog"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/route"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/runs"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/watch"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// routes builds the API. Every route says what it needs; see table.
func (k *Keeper) routes() http.Handler {
	mux := http.NewServeMux()
	cfg := huma.DefaultConfig("Fairlead", k.cfg.Version)
	cfg.Info.Description = "Runs commands on machines, exactly, safely and audited. Errors are problem details (RFC 9457) with a code. " +
		"A body without Content-Type is read as the type that the route takes."
	cfg.DocsPath, cfg.SchemasPath, cfg.CreateHooks = "", "", nil // no page, and no links in answers
	cfg.Transformers = []huma.Transformer{problem.Reword}
	cfg.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"token": {Type: "http", Scheme: "bearer", Description: "Over TCP. Callers on the unix socket are known by their account."},
	}
	a := route.New(humago.New(mux, cfg), k.trees, k.refuse)
	k.addHealth(a)
	k.addHosts(a)
	k.addSessions(a)
	k.addExecs(a)
	k.addStreams(a)
	k.addFiles(a)
	k.addJobs(a)
	k.addForwards(a)
	k.addApprovals(a)
	k.addQuestions(a)
	k.addForSession(a)
	auditlog.Add(a, k.cfg.AuditDir)
	(&watch.Watching{Realms: k.realms, Terminals: k.terminals, Secrets: k.secrets, Log: k.log}).Add(a)
	k.recordings.Add(a)
	k.addWeb(a)
	if k.boxes.Runner != nil {
		k.boxes.Add(a)
		k.addTokens(a)
	}
	runs.New(runs.Config{
		Realms: k.realms, Onces: k.onces, Store: k.cfg.Runs, Secrets: k.secrets, Approver: k.approver(), Log: k.log, BodyTime: k.cfg.bodyTime,
	}).Add(a, mux)
	k.terminals.Add(a, mux)
	a.Describe()
	k.addMCP(a, mux)
	mux.Handle(route.Everything, route.Misrouted(mux))
	mux.Handle("GET /metrics", a.Guard(access.NeedWatch, k.metrics))
	return route.Tidy(mux)
}

func (k *Keeper) addHealth(a *route.API) {
	route.Add(a, route.Route{Method: "GET", Path: "/healthz", ID: "health", Summary: "Whether the keeper lives, and what its gate is worth", Tag: "keeper"},
		func(_ context.Context, c *access.Caller, _ *route.None) (*route.Body[wire.Health], error) {
			h := k.health(c)
			return route.JSON(&h), nil
		})
	route.Add(a, route.Route{Method: "POST", Path: "/v1/keeper/stop", ID: "stop-keeper", Summary: "End the keeper and everything it holds", Tag: "keeper",
		Need: access.NeedOwn, Status: http.StatusAccepted},
		func(context.Context, *access.Caller, *route.None) (*route.None, error) {
			k.stop()
			return nil, nil
		})
	k.addLeave(a)
}

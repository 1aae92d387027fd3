package keeper

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

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
	a := newAPI(humago.New(mux, cfg), k.trees, k.refuse)
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

func (k *Keeper) addHealth(a *api) {
	add(a, route{method: "GET", path: "/healthz", id: "health", summary: "Whether the keeper lives, and what its gate is worth", tag: "keeper"},
		func(_ context.Context, c *access.Caller, _ *none) (*body[wire.Health], error) {
			h := k.health(c)
			return answer(&h), nil
		})
	add(a, route{method: "POST", path: "/v1/keeper/stop", id: "stop-keeper", summary: "End the keeper and everything it holds", tag: "keeper",
		need: access.NeedOwn, status: http.StatusAccepted},
		func(context.Context, *access.Caller, *none) (*none, error) {
			k.stop()
			return nil, nil
		})
	k.addLeave(a)
}

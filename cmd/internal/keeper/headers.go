package keeper

import (
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/page"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// ourHeaders are the request headers that are Fairlead's own.
var ourHeaders = append(slices.Clone(wire.Headers), page.Token)

// unknownHeader refuses a header that has a name like Fairlead's own and is none, and one of these given twice: a misspelled
// Fairlead-Principal would make an agent's request its owner's.
func unknownHeader(h http.Header) *wire.Problem {
	for name, values := range h {
		switch known := slices.Contains(ourHeaders, name); {
		case !known && strings.HasPrefix(name, "Fairlead-"):
			return problem.New(http.StatusBadRequest, "invalid", "unknown header %.80q; known: %s", name, strings.Join(ourHeaders, ", "))
		case known && name != wire.Principal && len(values) > 1: // who names two is refused as such
			return problem.New(http.StatusBadRequest, "invalid", "the header %s must be there once", name)
		}
	}
	return nil
}

// conditions are headers that a request relies on wherever it sends them.
var conditions = []string{wire.IdempotencyKey, "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range"}

// unusedHeader refuses a condition that the route does not take. Caches add some to requests that change nothing; these count there
// only for what may be kept, which is nothing.
func unusedHeader(r *http.Request, op *huma.Operation) *wire.Problem {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	for _, name := range conditions {
		taken := slices.ContainsFunc(op.Parameters, func(p *huma.Param) bool { return p.In == "header" && http.CanonicalHeaderKey(p.Name) == name })
		if !taken && len(r.Header.Values(name)) > 0 {
			return problem.New(http.StatusBadRequest, "invalid", "%s %s does not take the header %s", r.Method, op.Path, name)
		}
	}
	return nil
}

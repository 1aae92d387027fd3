package route

import (
	"cmp"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// methods are those that routes have.
var methods = []string{http.MethodDelete, http.MethodGet, http.MethodHead, http.MethodPatch, http.MethodPost, http.MethodPut}

// Misrouted answers requests that are for no route: another method is told what there is. That is found out by asking mux,
// which hands such requests to a route for everything, here.
func Misrouted(mux *http.ServeMux) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		probe := *r
		var allow []string
		for _, probe.Method = range methods {
			if _, pattern := mux.Handler(&probe); pattern != Everything {
				allow = append(allow, probe.Method)
			}
		}
		if len(allow) == 0 {
			problem.Write(w, problem.New(http.StatusNotFound, "not_found", "there is no %.20s %.200q here: see /openapi.json", r.Method, r.URL.Path))
			return
		}
		what := strings.Join(allow, ", ")
		w.Header().Set("Allow", what)
		problem.Write(w, problem.New(http.StatusMethodNotAllowed, "method", "%.200q takes %s, and not %.20s", r.URL.Path, what, r.Method))
	}
}

// WhileItRuns is how a command that has not ended is told.
var WhileItRuns = []int{http.StatusAccepted}

// Everything is the route of what no other one is for.
const Everything = "/"

// Tidy answers requests whose path is not as it is written down, which h would send elsewhere: with an empty part or dots.
func Tidy(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if p := r.URL.EscapedPath(); !strings.HasPrefix(p, "/") || len(p) > 1 && path.Clean(p) != strings.TrimSuffix(p, "/") {
			problem.Write(w, problem.New(http.StatusNotFound, "not_found", "there is no %.20s %.200q here: a path begins with a slash, and has no empty part and no dots", r.Method, r.URL.Path))
			return
		}
		h.ServeHTTP(w, r)
	})
}

// unusedBody refuses a body that a route would ignore. Some clients send an empty object for nothing.
func unusedBody(r *http.Request, op *huma.Operation) *wire.Problem {
	if op.RequestBody != nil || r.Body == nil {
		return nil
	}
	body, err := io.ReadAll(r.Body) // it is in memory, within its bounds
	if text := strings.TrimSpace(string(body)); err != nil || text != "" && text != "{}" {
		return problem.New(http.StatusBadRequest, "invalid", "%s %s takes no body", r.Method, op.Path)
	}
	return nil
}

// strange refuses a body, a query, and conditions in headers, that the route does not know: one that is misspelled would be none. What
// is not described is left to its handler.
func (a *API) strange(r *http.Request) *wire.Problem {
	method, path, _ := strings.Cut(r.Pattern, " ")
	op := operation(a.OpenAPI().Paths[path], method)
	if op == nil {
		return nil
	}
	if p := cmp.Or(unusedHeader(r, op), otherType(r, op)); p != nil {
		return p
	}
	if p := unusedBody(r, op); p != nil || r.URL.RawQuery == "" {
		return p
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return problem.Invalid("the query cannot be read: it is name=value&…, with %%XX for other characters")
	}
	var known, lists []string
	for _, p := range op.Parameters {
		if p.In == "query" {
			known = append(known, p.Name)
			if p.Schema != nil && p.Schema.Type == huma.TypeArray {
				lists = append(lists, p.Name)
			}
		}
	}
	for name, values := range query {
		switch {
		case slices.Contains(known, name) && len(values) > 1 && !slices.Contains(lists, name):
			return problem.Invalid("the query parameter %s must be there once", name)
		case slices.Contains(known, name) && values[0] == "" && !slices.Contains(mayBeEmpty, name) && !slices.Contains(lists, name):
			return problem.Invalid("the query parameter %s is empty: give it a value, or leave it out", name)
		case slices.Contains(known, name):
		case len(known) == 0:
			return problem.Invalid("there is no query parameter %.80q: %s %s takes none", name, method, path)
		default:
			return problem.Invalid("there is no query parameter %.80q: %s %s takes %s", name, method, path, strings.Join(known, ", "))
		}
	}
	return nil
}

// mayBeEmpty are query parameters that pick nothing: empty they are the first page, no reason, and an approval for exactly what was
// asked. Another one that is empty is most
// often a variable that was not set, and without it a list is of everything.
var mayBeEmpty = []string{"cursor", "reason", "prefix"}

// operation is what a path does with a method; nil where that is not described.
func operation(item *huma.PathItem, method string) *huma.Operation {
	if item == nil {
		return nil
	}
	return map[string]*huma.Operation{
		http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodPut: item.Put, http.MethodPatch: item.Patch, http.MethodDelete: item.Delete,
	}[method]
}

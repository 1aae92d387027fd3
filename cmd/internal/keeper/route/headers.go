package route

import (
	"mime"
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

// UnknownHeader refuses a header that has a name like Fairlead's own and is none, one of them that is empty, one of which a request
// has one and that is given twice, and what says that a body is not as it comes: a misspelled Fairlead-Principal would make an agent's request its owner's.
func UnknownHeader(h http.Header) *wire.Problem {
	for name, values := range h {
		switch known := slices.Contains(ourHeaders, name); {
		case !known && strings.HasPrefix(name, "Fairlead-"):
			return problem.New(http.StatusBadRequest, "invalid", "unknown header %.80q; known: %s", name, strings.Join(ourHeaders, ", "))
		case known && name != wire.Principal && len(values) > 1: // who names two is refused as such
			return problem.New(http.StatusBadRequest, "invalid", "the header %s must be there once", name)
		case slices.Contains(wire.Headers, name) && name != wire.Principal && values[0] == "": // a variable that was not set
			return problem.New(http.StatusBadRequest, "invalid", "the header %s is empty: give it a value, or leave it out", name)
		}
	}
	for _, name := range single {
		if len(h.Values(name)) > 1 {
			return problem.New(http.StatusBadRequest, "invalid", "the header %s must be there once", name)
		}
	}
	return unreadable(h)
}

// single are headers of others of which one would be taken and the rest ignored.
var single = []string{"Authorization", "Content-Type", wire.IdempotencyKey, "Last-Event-Id"}

// unreadable refuses a body that is not what it would be read as: a part of a file would become the whole file, and a compressed
// one its content.
func unreadable(h http.Header) *wire.Problem {
	for _, coding := range h.Values("Content-Encoding") {
		if !strings.EqualFold(coding, "identity") {
			return problem.New(http.StatusUnsupportedMediaType, "invalid", "the content encoding %.40q is not supported: send the body without a Content-Encoding", coding)
		}
	}
	if len(h.Values("Content-Range")) > 0 {
		return problem.New(http.StatusBadRequest, "invalid", "Content-Range is not supported: send the whole content")
	}
	return nil
}

// otherType refuses a body that says to be of a type, or in a character set, which the route does not read. Where it does not say, it is
// what the route takes: many clients send JSON so, and no page of another origin gets this far. The type of raw bytes does not matter.
func otherType(r *http.Request, op *huma.Operation) *wire.Problem {
	const plain = "application/json"
	kind := r.Header.Get("Content-Type")
	if kind == "" || op.RequestBody == nil || op.RequestBody.Content[plain] == nil {
		return nil
	}
	parsed, params, err := mime.ParseMediaType(kind)
	switch charset, said := params["charset"]; {
	case err != nil || parsed != plain:
		return problem.New(http.StatusUnsupportedMediaType, "invalid", "the content type %.80q is not supported: send JSON, with Content-Type: %s", kind, plain)
	case said && !strings.EqualFold(charset, "utf-8"):
		return problem.New(http.StatusUnsupportedMediaType, "invalid", "the character set %.40q is not supported: JSON is UTF-8", charset)
	}
	r.Header.Set("Content-Type", plain) // as the library compares it
	return nil
}

// conditions are headers that a request relies on wherever it sends them.
var conditions = []string{wire.IdempotencyKey, "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since", "If-Range"}

// unusedHeader refuses a condition that the route does not take, or that says nothing. Caches add some to requests that change nothing; these count there
// only for what may be kept, which is nothing.
func unusedHeader(r *http.Request, op *huma.Operation) *wire.Problem {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	for _, name := range conditions {
		taken := slices.ContainsFunc(op.Parameters, func(p *huma.Param) bool { return p.In == "header" && http.CanonicalHeaderKey(p.Name) == name })
		values := r.Header.Values(name)
		switch {
		case !taken && len(values) > 0:
			return problem.New(http.StatusBadRequest, "invalid", "%s %s does not take the header %s", r.Method, op.Path, name)
		case len(values) > 0 && values[0] == "": // the request would be made without it
			return problem.New(http.StatusBadRequest, "invalid", "the header %s is empty: give it a value, or leave it out", name)
		}
	}
	return nil
}

// Package auditlog lets callers read the audit log: its end, whether its chain is whole, and what is found in it. It is
// written by the gate, and nowhere here.
package auditlog

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/route"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

type tailIn struct {
	N int `query:"n" minimum:"1" maximum:"1000" default:"50" doc:"how many of the last entries"`
}

// log is the audit log in a directory.
type log struct{ dir string }

// tailOut has the records as the record's own format has them.
type tailOut struct {
	Items   []any  `json:"items"`
	Damaged string `json:"damaged,omitempty" doc:"what is wrong with the end of the audit log; items has what can be read of it. See /v1/audit/verify"`
}

// Add adds the routes of the audit log in dir; "" has none that can be read.
func Add(a *route.API, dir string) {
	l := log{dir}
	route.Add(a, route.Route{Method: "GET", Path: "/v1/audit/search", ID: "audit-search", Summary: "Find commands in the audit log, the newest first", Tag: "audit", Need: access.NeedAudit}, l.search)
	route.Add(a, route.Route{Method: "GET", Path: "/v1/audit", ID: "audit-tail", Summary: "The last entries, the oldest first", Tag: "audit", Need: access.NeedAudit},
		func(_ context.Context, _ *access.Caller, in *tailIn) (*route.Body[tailOut], error) {
			if l.dir == "" {
				return nil, noRecord()
			}
			events, err := audit.Tail(l.dir, in.N)
			if errors.Is(err, audit.ErrUnavailable) {
				return nil, err
			}
			out := &tailOut{Items: make([]any, len(events))}
			if err != nil {
				out.Damaged = strings.TrimPrefix(err.Error(), "audit: ")
			}
			for i, e := range events {
				out.Items[i] = e
			}
			return route.JSON(out), nil
		})
	route.Add(a, route.Route{Method: "GET", Path: "/v1/audit/verify", ID: "audit-verify", Summary: "Check the whole chain", Tag: "audit", Need: access.NeedAudit},
		func(context.Context, *access.Caller, *route.None) (*route.Body[wire.Verified], error) {
			if l.dir == "" {
				return nil, noRecord()
			}
			r, err := audit.Verify(l.dir)
			if err != nil {
				return nil, err
			}
			out := &wire.Verified{OK: r.OK(), Records: r.Records, Head: r.Head, Problems: []string{}}
			if r.Problem != nil {
				out.Problems = append(out.Problems, r.Problem.String())
			}
			return route.JSON(out), nil
		})
}

func noRecord() error {
	return problem.New(http.StatusNotFound, registry.CodeNotFound, "the audit log cannot be read here")
}

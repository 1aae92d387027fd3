package keeper

import (
	"context"
	"net/http"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

type tailIn struct {
	N int `query:"n" minimum:"1" maximum:"1000" default:"50" doc:"how many of the last entries"`
}

// tailOut has the records as the record's own format has them.
type tailOut struct {
	Items []any `json:"items"`
}

// The record can be read here and nothing else: it is written by the gate.
func (k *Keeper) addAudit(a *api) {
	add(a, route{method: "GET", path: "/v1/audit", id: "audit-tail", summary: "The last entries, the oldest first", tag: "audit", need: access.NeedAudit},
		func(_ context.Context, _ *access.Caller, in *tailIn) (*body[tailOut], error) {
			if k.cfg.AuditDir == "" {
				return nil, noRecord()
			}
			events, err := audit.Tail(k.cfg.AuditDir, in.N)
			if err != nil {
				return nil, err
			}
			out := &tailOut{Items: make([]any, len(events))}
			for i, e := range events {
				out.Items[i] = e
			}
			return &body[tailOut]{out}, nil
		})
	add(a, route{method: "GET", path: "/v1/audit/verify", id: "audit-verify", summary: "Check the whole chain", tag: "audit", need: access.NeedAudit},
		func(context.Context, *access.Caller, *none) (*body[wire.Verified], error) {
			if k.cfg.AuditDir == "" {
				return nil, noRecord()
			}
			r, err := audit.Verify(k.cfg.AuditDir)
			if err != nil {
				return nil, err
			}
			out := &wire.Verified{OK: r.OK(), Records: r.Records, Head: r.Head, Problems: []string{}}
			if r.Problem != nil {
				out.Problems = append(out.Problems, r.Problem.String())
			}
			return &body[wire.Verified]{out}, nil
		})
}

func noRecord() error {
	return problem.New(http.StatusNotFound, registry.CodeNotFound, "the audit log cannot be read here")
}

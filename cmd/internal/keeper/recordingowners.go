package keeper

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// recordings knows whose recordings are, as far as somebody has asked. The zero value knows nothing.
type recordings struct {
	reading sync.Mutex // held by whoever reads the record

	frames framed // of those that are played

	mu    sync.Mutex // guards what follows
	whose map[string]string
}

// maxWhose is how many recordings are remembered.
const maxWhose = 10000

func (r *recordings) note(id, principal string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.whose == nil || len(r.whose) >= maxWhose {
		r.whose = map[string]string{}
	}
	r.whose[id] = principal
}

// known fills in the principals that are known, and returns those that are not.
func (r *recordings) known(items []wire.Recording) (unknown map[string]*wire.Recording) {
	r.mu.Lock()
	defer r.mu.Unlock()
	unknown = map[string]*wire.Recording{}
	for i := range items {
		p, ok := r.whose[items[i].ID]
		if !ok {
			unknown[items[i].ID] = &items[i]
		}
		items[i].Principal = p
	}
	return unknown
}

// name fills in whose recordings are. The record is read for those alone that nobody has asked about before.
func (r *recordings) name(ctx context.Context, dir string, items []wire.Recording) {
	r.reading.Lock()
	defer r.reading.Unlock()
	unknown := r.known(items)
	if len(unknown) == 0 || dir == "" {
		return
	}
	for e, err := range audit.All(dir) {
		if ctx.Err() != nil || errors.Is(err, audit.ErrUnavailable) {
			return
		}
		item := unknown[e.ID]
		if err != nil || item == nil || e.Principal == "" {
			continue
		}
		item.Principal = e.Principal
		r.note(e.ID, e.Principal)
		if delete(unknown, e.ID); len(unknown) == 0 {
			return
		}
	}
	for id, item := range unknown {
		if time.Since(item.Started) > time.Minute {
			r.note(id, "") // nor will it be on record later
		}
	}
}

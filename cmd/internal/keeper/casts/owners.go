package casts

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// owners knows whose recordings are, as far as somebody has asked. The zero value knows nothing.
type owners struct {
	reading sync.Mutex // held by whoever reads the record

	mu    sync.Mutex // guards what follows
	whose map[string]string
}

// maxWhose is how many recordings are remembered.
const maxWhose = 10000

func (o *owners) note(id, principal string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.whose == nil || len(o.whose) >= maxWhose {
		o.whose = map[string]string{}
	}
	o.whose[id] = principal
}

// known fills in the principals that are known, and returns those that are not.
func (o *owners) known(items []wire.Recording) (unknown map[string]*wire.Recording) {
	o.mu.Lock()
	defer o.mu.Unlock()
	unknown = map[string]*wire.Recording{}
	for i := range items {
		p, ok := o.whose[items[i].ID]
		if !ok {
			unknown[items[i].ID] = &items[i]
		}
		items[i].Principal = p
	}
	return unknown
}

// name fills in whose recordings are. The record is read for those alone that nobody has asked about before.
func (o *owners) name(ctx context.Context, dir string, items []wire.Recording) {
	o.reading.Lock()
	defer o.reading.Unlock()
	unknown := o.known(items)
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
		o.note(e.ID, e.Principal)
		if delete(unknown, e.ID); len(unknown) == 0 {
			return
		}
	}
	for id, item := range unknown {
		if time.Since(item.Started) > time.Minute {
			o.note(id, "") // nor will it be on record later
		}
	}
}

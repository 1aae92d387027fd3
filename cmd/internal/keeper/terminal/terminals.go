package terminal

import (
	"context"
	"log"
	"sync"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/realm"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/stream"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/terminals"
	"github.com/fairlead-ssh/fairlead/session/redact"
)

// Config says what terminals need.
type Config struct {
	Realms     *realm.Book
	Record     access.Record
	Secrets    *redact.Set
	Recordings string // the directory of recordings; "" means that there are no terminals
	Log        *log.Logger

	Base       context.Context                  // ends with the keeper
	Stay       func() (leave func(), err error) // has the keeper wait for a terminal when it ends
	AliveEvery time.Duration                    // between pings over TCP
	SlowTime   time.Duration                    // for clients there to take what is sent
}

// Terminals are those that are open. Make one with New.
type Terminals struct {
	Config

	mu sync.Mutex // guards what follows
	m  map[string]*Terminal
}

// New returns the terminals of a keeper that has none yet.
func New(cfg Config) *Terminals { return &Terminals{Config: cfg, m: map[string]*Terminal{}} }

// add lists one until it is told to leave it out.
func (ts *Terminals) add(t *Terminal) (leave func()) {
	id := t.entry.ID()
	ts.mu.Lock()
	defer ts.mu.Unlock()
	ts.m[id] = t
	return func() {
		ts.mu.Lock()
		defer ts.mu.Unlock()
		delete(ts.m, id)
	}
}

// Get returns the one with an id, or nil.
func (ts *Terminals) Get(id string) *Terminal {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	return ts.m[id]
}

// Recorded returns whose one is that is still being recorded.
func (ts *Terminals) Recorded(id string) (owner string, live bool) {
	t := ts.Get(id)
	if t == nil || t.rec == nil || stream.IsClosed(t.rec.Done()) {
		return "", false
	}
	return t.owner, true
}

// All are those that are open.
func (ts *Terminals) All() (all []*Terminal) {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	for _, t := range ts.m {
		all = append(all, t)
	}
	return all
}

// Recording is what is recorded of it; nil where nothing is.
func (t *Terminal) Recording() *terminals.Recording { return t.rec }

// Watched is what is told of it.
func (t *Terminal) Watched() wire.Watched {
	w := wire.Watched{ID: t.entry.ID(), Kind: wire.KindTerminal, Host: t.host, Owner: t.owner, Opened: t.entry.Start.UTC()}
	if t.rec != nil {
		w.Recording = w.ID
	}
	return w
}

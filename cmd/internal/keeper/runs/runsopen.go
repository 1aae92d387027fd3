package runs

import (
	"context"
	"net/http"
	"sync"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/bodies"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

// openRuns are those that go on, by who started them and the id that they chose.
type openRuns struct {
	mu sync.Mutex
	m  map[string]going
}

// going is a run that goes on.
type going struct {
	cancel  context.CancelFunc
	hosts   int             // how many it has
	inlets  *bodies.Inlets  // nil where no host gets a standard input
	outlets *bodies.Outlets // nil where nothing is downloaded
	asking  *asking         // nil where nothing is confirmed
}

func newOpenRuns() *openRuns { return &openRuns{m: map[string]going{}} }

// begin returns what ends when the run is to stop; leave forgets it.
func (r *openRuns) begin(principal, id string, run going) (ctx context.Context, leave func(), err error) {
	key := principal + "\x00" + id
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, there := r.m[key]; there {
		return nil, nil, problem.New(http.StatusConflict, registry.CodeConflict, "there is a run %.80q already: take another id", id)
	}
	ctx, cancel := context.WithCancel(context.Background())
	run.cancel = cancel
	r.m[key] = run
	return ctx, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.m, key)
		cancel()
	}, nil
}

// stop reports whether there is such a run.
func (r *openRuns) stop(principal, id string) bool {
	g, ok := r.find(principal, id)
	if ok {
		g.cancel()
	}
	return ok
}

func (r *openRuns) find(principal, id string) (going, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	g, ok := r.m[principal+"\x00"+id]
	return g, ok
}

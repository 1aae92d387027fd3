package runs

import (
	"bytes"
	"encoding/json"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/stream"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

// Bounds of what is kept to be told again, in bytes: the results of one run are kept without their output beyond, and of all
// runs that have ended the oldest are forgotten.
const (
	maxRetelling  = 4 << 20
	maxRetellings = 32 << 20
)

// retelling is what a run tells its caller, but for the output as it comes: the results hold what is kept of that. All
// methods may be called on nil, which keeps nothing.
type retelling struct {
	mu    sync.Mutex // guards what follows
	said  []saying
	bytes int
	more  chan struct{} // closed with the next; nil when nobody waits
	over  bool
}

// saying is an event.
type saying struct {
	kind string
	data json.RawMessage
}

// add notes what is told.
func (r *retelling) add(kind string, data any) {
	if r == nil || kind == "output" || kind == "begin" || kind == "stdin" {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	text := eventJSON(data)
	if e, ok := data.(wire.RunResult); ok && r.bytes+len(text) > maxRetelling {
		e.Result = bare(e.Result)
		text = eventJSON(e)
	}
	r.said, r.bytes = append(r.said, saying{kind, text}), r.bytes+len(text)
	r.wake()
}

// eventJSON is what an event holds, in the form in which it is sent.
func eventJSON(data any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(data) != nil {
		return nil // nor was it sent
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}

// bare is a Result without its output, all of which counts as omitted.
func bare(r *wire.Result) *wire.Result {
	b := *r
	b.Stdout, b.Stderr, b.Stray, b.Encoding = "", "", "", "utf-8"
	b.Omitted, b.CutAt = map[string]int64{registry.Stdout: b.StdoutBytes, registry.Stderr: b.StderrBytes}, map[string]int64{}
	return &b
}

// end says that nothing more is told.
func (r *retelling) end() {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	r.wake()
}

// wake tells those who wait that there is more. r.mu is held.
func (r *retelling) wake() {
	if r.more != nil {
		close(r.more)
		r.more = nil
	}
}

// after returns what was told after the first n, whether that is all there will be, and what is closed with the next.
func (r *retelling) after(n int) (said []saying, over bool, more <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.more == nil {
		r.more = make(chan struct{})
	}
	return r.said[n:], r.over, r.more
}

// retold is a run that its key stands for. It lets go of the retelling when there are too many.
type retold struct{ log atomic.Pointer[retelling] }

// newRetold returns one for a run with a key; without, it keeps nothing.
func newRetold(key string) *retold {
	t := &retold{}
	if key != "" {
		t.log.Store(&retelling{})
	}
	return t
}

// again tells it to another caller as far as it has gone, and goes on to its end. Whoever hears it may leave: it is the run
// of who was first.
func (t *retold) again(c *access.Caller) (func(huma.Context), error) {
	log := t.log.Load()
	if log == nil {
		return nil, problem.New(http.StatusGone, registry.CodeGone, "this request was made before, and its response is no longer kept: the audit log has its outcome")
	}
	return func(hc huma.Context) {
		s, req := stream.Start(hc)
		if c.Bucket == "" {
			s.Patient = req.Context()
		}
		for n := 0; ; {
			said, over, more := log.after(n)
			for _, e := range said {
				if s.Send(e.kind, "", e.data) != nil {
					return
				}
			}
			n += len(said)
			if s.Flush() != nil || over || !s.Wait(req.Context(), more, nil) {
				return
			}
		}
	}, nil
}

// retellings are those of runs that have ended.
type retellings struct {
	mu    sync.Mutex // guards what follows
	order []*retold  // the oldest first
	bytes int
}

// keep counts one that has ended, and forgets the oldest where there are too many.
func (a *retellings) keep(t *retold) {
	if t.log.Load() == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.order, a.bytes = append(a.order, t), a.bytes+t.log.Load().bytes
	for a.bytes > maxRetellings {
		a.bytes -= a.order[0].log.Swap(nil).bytes
		a.order = a.order[1:]
	}
}

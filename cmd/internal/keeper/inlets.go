package keeper

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

const stdinPath = runsPath + "/{id}/stdin"

// isStdin reports whether the body of a request is somebody's standard input, which comes as fast as it is taken.
func isStdin(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, runsPath+"/") && strings.HasSuffix(r.URL.Path, "/stdin")
}

// addStdin adds the way of standard input. Its body is read by the command, so it is none of the framework's routes; it
// is described all the same.
func (k *Keeper) addStdin(a *api, mux *http.ServeMux) {
	mux.Handle("POST "+stdinPath, a.guard(access.NeedRun, http.HandlerFunc(k.takeStdin)))
	zero := 0.0
	a.OpenAPI().AddOperation(&huma.Operation{
		Method: http.MethodPost, Path: stdinPath, OperationID: "give-stdin", Tags: []string{"runs"},
		Summary: "Give a host of a run its standard input, once the event “stdin” asks for it. It is taken as fast as the command reads, and answered when that reads no more. A sender that cannot read it to its end says why in the trailer " + wire.StdinError,
		Parameters: []*huma.Param{
			{Name: "id", In: "path", Required: true, Description: "of a run of one's own", Schema: &huma.Schema{Type: huma.TypeString}},
			{Name: "host", In: "query", Required: true, Description: "its place in the event “hosts”", Schema: &huma.Schema{Type: huma.TypeInteger, Minimum: &zero}},
		},
		RequestBody: &huma.RequestBody{Content: map[string]*huma.MediaType{
			"application/octet-stream": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}},
		}},
		Security:  []map[string][]string{{"token": {}}},
		Responses: map[string]*huma.Response{"204": {Description: http.StatusText(http.StatusNoContent)}},
	})
}

// takeStdin has a command read the body of the request.
func (k *Keeper) takeStdin(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	g, ok := k.runs.find(access.CallerOf(r.Context()).Principal, id)
	if !ok {
		problem.Write(w, problem.NotFound("run", id))
		return
	}
	n, err := strconv.Atoi(r.URL.Query().Get("host"))
	if err != nil || g.inlets == nil {
		problem.Write(w, problem.Invalid("host is its place in the event “hosts” of a run with stdin"))
		return
	}
	rc := http.NewResponseController(w)
	_ = rc.SetReadDeadline(time.Time{})
	_ = rc.SetWriteDeadline(time.Time{})
	in, p := g.inlets.take(n, r)
	if p != nil {
		_ = rc.SetReadDeadline(time.Now().Add(k.cfg.bodyTime))
		problem.Write(w, p)
		return
	}
	select {
	case <-in.over:
	case <-r.Context().Done():
	}
	if !in.read.Load() {
		// What is left is not wanted, and nothing can come behind it. A Read that waits for it must not outlive the request.
		w.Header().Set("Connection", "close")
		_ = rc.SetReadDeadline(time.Unix(1, 0))
	}
	in.leave()
	_ = rc.SetWriteDeadline(time.Now().Add(writeTime))
	w.WriteHeader(http.StatusNoContent)
}

// inlets are the standard inputs of the hosts of a run, by their place.
type inlets struct {
	mu sync.Mutex
	m  map[int]*inlet
}

func newInlets() *inlets { return &inlets{m: map[int]*inlet{}} }

// open makes that of a host whose turn has come. wanted is called when the first byte is wanted.
func (s *inlets) open(host int, wanted func()) *inlet {
	in := &inlet{wanted: sync.OnceFunc(wanted), came: make(chan struct{}), over: make(chan struct{})}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.m[host] = in
	return in
}

// of returns that of a host, which is open.
func (s *inlets) of(host int) *inlet {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.m[host]
}

// close ends that of a host that has ended; it need not have one.
func (s *inlets) close(host int) {
	s.mu.Lock()
	in := s.m[host]
	delete(s.m, host)
	s.mu.Unlock()
	if in != nil {
		in.end()
	}
}

// take makes a request the source of a host's.
func (s *inlets) take(host int, r *http.Request) (*inlet, *wire.Problem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	in := s.m[host]
	switch {
	case in == nil:
		return nil, problem.New(http.StatusConflict, registry.CodeNotRunning, "that host has not begun, or has ended")
	case in.from != nil:
		return nil, problem.New(http.StatusConflict, registry.CodeConflict, "that host has its standard input already")
	}
	in.from = r
	in.body = r.Body
	close(in.came)
	return in, nil
}

// inlet is the standard input of one host.
type inlet struct {
	wanted func()

	came chan struct{} // closed when there is a source
	over chan struct{} // closed when nobody reads any more
	read atomic.Bool   // to its end
	once sync.Once     // of over
	from *http.Request // set before came is closed

	mu   sync.Mutex // held while the body is read
	body io.Reader  // nil when the request has been answered
}

var errInletOver = errors.New("its sender is gone")

// Read reads what the sender sends. A sender that goes away is an error, and so is what it says in the trailer.
func (in *inlet) Read(p []byte) (int, error) {
	in.wanted()
	select {
	case <-in.came:
	case <-in.over:
		return 0, errInletOver
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.body == nil {
		return 0, errInletOver
	}
	n, err := in.body.Read(p)
	switch {
	case errors.Is(err, io.EOF):
		if why := in.from.Trailer.Get(wire.StdinError); why != "" {
			err = errors.New(why)
		}
		in.read.Store(true)
		in.end()
	case err != nil:
		err = errInletOver
		in.end()
	}
	return n, err
}

func (in *inlet) end() { in.once.Do(func() { close(in.over) }) }

// leave keeps the body from being read once its request is answered.
func (in *inlet) leave() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.body = nil
	in.end()
}

package keeper

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

const filesOutPath = runsPath + "/{id}/files"

// addFilesOut adds the way of what a download sends. Its body is written by the command, so it is none of the framework's
// routes; it is described all the same.
func (k *Keeper) addFilesOut(a *api, mux *http.ServeMux) {
	mux.Handle("GET "+filesOutPath, a.guard(access.NeedRun, http.HandlerFunc(k.giveFiles)))
	zero := 0.0
	a.OpenAPI().AddOperation(&huma.Operation{
		Method: http.MethodGet, Path: filesOutPath, OperationID: "take-files", Tags: []string{"runs"},
		Summary: "Take the files of a host of a download, once the event “begin” has said that its turn has come: frames, the last of which is an end where all has come. The host sends as fast as they are taken",
		Parameters: []*huma.Param{
			{Name: "id", In: "path", Required: true, Description: "of a run of one's own", Schema: &huma.Schema{Type: huma.TypeString}},
			{Name: "host", In: "query", Required: true, Description: "its place in the event “hosts”", Schema: &huma.Schema{Type: huma.TypeInteger, Minimum: &zero}},
		},
		Security: []map[string][]string{{"token": {}}},
		Responses: map[string]*huma.Response{"200": {Description: "the stream", Content: map[string]*huma.MediaType{
			"application/octet-stream": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}},
		}}},
	})
}

// giveFiles has a download write the body of the answer.
func (k *Keeper) giveFiles(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	g, ok := k.runs.find(access.CallerOf(r.Context()).Principal, id)
	if !ok {
		problem.Write(w, problem.NotFound("run", id))
		return
	}
	n, err := strconv.Atoi(r.URL.Query().Get("host"))
	if err != nil || n < 0 || g.outlets == nil {
		problem.Write(w, problem.Invalid("host is its place in the event “hosts” of a download"))
		return
	}
	out := g.outlets.of(n)
	rc := http.NewResponseController(w)
	_ = rc.SetWriteDeadline(time.Time{})
	w.Header().Set("Content-Type", "application/octet-stream")
	if !out.take(w) {
		problem.Write(w, problem.New(http.StatusConflict, registry.CodeConflict, "that host's files are being taken already, or have been"))
		return
	}
	select {
	case <-out.over:
	case <-r.Context().Done():
		_ = rc.SetWriteDeadline(time.Unix(1, 0)) // a Write that waits must not outlive the request
	}
	out.leave()
}

// outlets are what a download sends from each host, by its place. A nil one has none.
type outlets struct {
	mu sync.Mutex
	m  map[int]*outlet
}

func newOutlets() *outlets { return &outlets{m: map[int]*outlet{}} }

// of returns that of a host: whoever asks first, sender or taker, makes it.
func (s *outlets) of(host int) *outlet {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.m[host]
	if o == nil {
		o = &outlet{came: make(chan struct{}), over: make(chan struct{})}
		s.m[host] = o
	}
	return o
}

// end ends that of a host that has ended.
func (s *outlets) end(host int) {
	if s != nil {
		_ = s.of(host).Close()
	}
}

// outlet is what one host sends.
type outlet struct {
	came chan struct{} // closed when somebody takes it
	over chan struct{} // closed when no more comes
	once sync.Once     // of over

	mu    sync.Mutex // held while it is written
	to    io.Writer  // nil before and after
	taken bool
}

var errNotTaken = errors.New("the reader of the files is gone")

func (o *outlet) take(w io.Writer) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.taken {
		return false
	}
	o.to, o.taken = w, true
	close(o.came)
	return true
}

// Write waits for a taker.
func (o *outlet) Write(p []byte) (int, error) {
	select {
	case <-o.came:
	case <-o.over:
		return 0, errNotTaken
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.to == nil {
		return 0, errNotTaken
	}
	n, err := o.to.Write(p)
	if err != nil {
		o.to = nil
		err = errNotTaken
	}
	return n, err
}

// Close says that no more comes.
func (o *outlet) Close() error {
	o.once.Do(func() { close(o.over) })
	return nil
}

// leave keeps the answer from being written once its request has ended.
func (o *outlet) leave() {
	o.mu.Lock()
	o.to = nil
	o.mu.Unlock()
	_ = o.Close()
}

package runs

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/route"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/stream"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

const stdinPath = Path + "/{id}/stdin"

// IsStdin reports whether the body of a request is somebody's standard input, which comes as fast as it is taken.
func IsStdin(r *http.Request) bool {
	return r.Method == http.MethodPost && strings.HasPrefix(r.URL.Path, Path+"/") && strings.HasSuffix(r.URL.Path, "/stdin")
}

// addStdin adds the way of standard input. Its body is read by the command, so it is none of the framework's routes; it
// is described all the same.
func (rs *Runs) addStdin(a *route.API, mux *http.ServeMux) {
	mux.Handle("POST "+stdinPath, a.Guard(access.NeedRun, http.HandlerFunc(rs.takeStdin)))
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
func (rs *Runs) takeStdin(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	g, ok := rs.open.find(access.CallerOf(r.Context()).Principal, id)
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
	in, p := g.inlets.Take(n, r)
	if p != nil {
		_ = rc.SetReadDeadline(time.Now().Add(rs.BodyTime))
		problem.Write(w, p)
		return
	}
	select {
	case <-in.Over():
	case <-r.Context().Done():
	}
	if !in.WasRead() {
		// What is left is not wanted, and nothing can come behind it. A Read that waits for it must not outlive the request.
		w.Header().Set("Connection", "close")
		_ = rc.SetReadDeadline(time.Unix(1, 0))
	}
	in.Leave()
	_ = rc.SetWriteDeadline(time.Now().Add(stream.WriteTime))
	w.WriteHeader(http.StatusNoContent)
}

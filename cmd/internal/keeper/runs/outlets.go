package runs

import (
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/access"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/problem"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/route"
	"github.com/fairlead-ssh/fairlead/session/registry"
)

const filesOutPath = Path + "/{id}/files"

// addFilesOut adds the way of what a download sends. Its body is written by the command, so it is none of the framework's
// routes; it is described all the same.
func (rs *Runs) addFilesOut(a *route.API, mux *http.ServeMux) {
	mux.Handle("GET "+filesOutPath, a.Guard(access.NeedRun, http.HandlerFunc(rs.giveFiles)))
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
func (rs *Runs) giveFiles(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	g, ok := rs.open.find(access.CallerOf(r.Context()).Principal, id)
	if !ok {
		problem.Write(w, problem.NotFound("run", id))
		return
	}
	n, err := strconv.Atoi(r.URL.Query().Get("host"))
	if err != nil || n < 0 || n >= g.hosts || g.outlets == nil {
		problem.Write(w, problem.Invalid("host is its place in the event “hosts” of a download"))
		return
	}
	out := g.outlets.Of(n)
	rc := http.NewResponseController(w)
	_ = rc.SetWriteDeadline(time.Time{})
	w.Header().Set("Content-Type", "application/octet-stream")
	if !out.Take(w) {
		problem.Write(w, problem.New(http.StatusConflict, registry.CodeConflict, "that host's files are being taken already, or have been"))
		return
	}
	select {
	case <-out.Over():
	case <-r.Context().Done():
		_ = rc.SetWriteDeadline(time.Unix(1, 0)) // a Write that waits must not outlive the request
	}
	out.Leave()
}

package runs_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// allowed sends a request and returns its status and what it is told to use instead.
func allowed(w *keepertest.World, method, path string) (int, string) {
	w.T.Helper()
	req, err := http.NewRequestWithContext(w.T.Context(), method, "http://localhost"+path, nil)
	require.NoError(w.T, err)
	c := w.HTTP()
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := c.Do(req)
	require.NoError(w.T, err)
	defer resp.Body.Close()
	assert.Equal(w.T, "application/problem+json", resp.Header.Get("Content-Type"), "%s %s", method, path)
	return resp.StatusCode, resp.Header.Get("Allow")
}

func TestAWrongMethodIsToldTheRightOnes(t *testing.T) {
	w := keepertest.Start(t)
	for path, want := range map[string]string{
		"/healthz": "GET, HEAD", "/v1/sessions": "GET, HEAD, POST", "/v1/sessions/x": "DELETE, GET, HEAD", "/v1/sessions/x/execs": "POST",
		"/agent/terminal/sandboxes/x": "DELETE, GET, HEAD, PATCH", "/metrics": "GET, HEAD", "/v1/terminals": "GET, HEAD",
		"/v1/runs/x/stdin": "POST", "/v1/jobs/here%2Fj_x/output": "GET, HEAD", "/openapi.json": "GET, HEAD",
	} {
		for _, method := range []string{"PUT", "OPTIONS", "LOCK"} {
			status, allow := allowed(w, method, path)
			assert.Equal(t, http.StatusMethodNotAllowed, status, "%s %s", method, path)
			assert.Equal(t, want, allow, path)
		}
	}
	for _, path := range []string{"/nothing", "/", "/v1/sessions/"} {
		status, allow := allowed(w, "POST", path)
		assert.Equal(t, http.StatusNotFound, status, path)
		assert.Empty(t, allow)
	}
}

func TestAPathThatIsNotAsItIsWrittenDownIsNone(t *testing.T) {
	w := keepertest.Start(t)
	for _, path := range []string{"/agent//terminal/commands", "//healthz", "/v1/../healthz", "/./healthz", "/healthz/.", "/v1//"} {
		status, _ := allowed(w, "GET", path)
		assert.Equal(t, http.StatusNotFound, status, path)
	}
}

// A parameter that nobody knows may be one that was to keep something from being overwritten.
func TestEveryRouteRefusesQueriesThatItDoesNotKnow(t *testing.T) {
	w := keepertest.Start(t)
	status, _, text := w.Send("GET", "/openapi.json", "")
	require.Equal(t, http.StatusOK, status)
	var doc struct {
		Paths map[string]map[string]json.RawMessage
	}
	require.NoError(t, json.Unmarshal([]byte(text), &doc))
	require.Greater(t, len(doc.Paths), 30)
	for path, all := range doc.Paths {
		at := regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(path, "x")
		for method := range all {
			for _, query := range []string{"nonsense=hunter2", "wait_s=1&nonsense", "%zz=1"} {
				status, p, text := w.Send(strings.ToUpper(method), at+"?"+query, "")
				assert.Equal(t, http.StatusUnprocessableEntity, status, "%s %s: %s", method, path, p.Detail)
				assert.NotContains(t, text, "hunter2")
			}
		}
	}
	file := filepath.Join(w.Dir, "file")
	require.NoError(t, os.WriteFile(file, []byte("old"), 0o600))
	status, p, _ := w.Send("PUT", "/v1/files?host=here&path="+file+"&if_sha256=0", "new")
	assert.Equal(t, http.StatusUnprocessableEntity, status)
	assert.Contains(t, p.Detail, `"if_sha256"`)
	assert.Contains(t, p.Detail, "host, session_id, path")
	got, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "old", string(got))
}

func TestHeadersThatWouldHaveNoEffectAreRefused(t *testing.T) {
	w := keepertest.Start(t)
	for name, tt := range map[string]struct {
		method, path, body string
		headers            []string
		status             int
		says               string
	}{
		"a name that is misspelled":    {"GET", "/v1/hosts", "", []string{"Fairlead-Principl", "agent/a"}, 400, "unknown header \"Fairlead-Principl\"; known: Fairlead-Principal, "},
		"a key where none is taken":    {"POST", "/v1/keeper/stop", "", []string{"Idempotency-Key", "k"}, 400, "POST /v1/keeper/stop does not take the header Idempotency-Key"},
		"a condition that is not kept": {"DELETE", "/v1/sessions/s_none", "", []string{"If-Match", "x"}, 400, "DELETE /v1/sessions/{id} does not take the header If-Match"},
		"a key that is empty":          {"POST", "/v1/sessions", `{"host":"here"}`, []string{"Idempotency-Key", ""}, 400, "the header Idempotency-Key is empty"},
		"a condition of a cache":       {"GET", "/v1/hosts", "", []string{"If-None-Match", "x"}, 200, ""},
		"a header of someone else":     {"GET", "/v1/hosts", "", []string{"X-Fairlead", "x"}, 200, ""},
		"an asker that cannot be":      {"POST", "/v1/sessions", `{"host":"here"}`, []string{"Fairlead-Asker", "me"}, 400, "Fairlead-Asker is 8 to 64 letters, digits, - and _"},
		"a key that comes twice":       {"POST", "/v1/sessions", `{"host":"here"}`, []string{"Idempotency-Key", "a", "Idempotency-Key", "b"}, 400, "the header Idempotency-Key must be there once"},
		"a token on the socket":        {"GET", "/v1/sessions", "", []string{"Authorization", "Bearer fairlead_x"}, 403, "a token is for callers over TCP: on the socket the account says who calls"},
		"an empty inventory":           {"GET", "/v1/hosts", "", []string{"Fairlead-Inventory", ""}, 400, "the header Fairlead-Inventory is empty: give it a value, or leave it out"},
		"a type that comes twice":      {"POST", "/v1/sessions", `{"host":"here"}`, []string{"Content-Type", "application/json", "Content-Type", "text/plain"}, 400, "the header Content-Type must be there once"},
		"a body without a type":        {"POST", "/v1/sessions", `{"host":"here"}`, []string{"Content-Type"}, 201, ""},
		"a type in capitals":           {"POST", "/v1/sessions", `{"host":"here"}`, []string{"Content-Type", "Application/JSON; Charset=UTF-8"}, 201, ""},
		"a type of another kind":       {"POST", "/v1/sessions", `{"host":"here"}`, []string{"Content-Type", "text/plain"}, 415, "the content type \"text/plain\" is not supported: send JSON, with Content-Type: application/json"},
		"a type that is nearly JSON":   {"POST", "/v1/sessions", `{"host":"here"}`, []string{"Content-Type", "application/problem+json"}, 415, "is not supported: send JSON"},
		"a type without a slash":       {"POST", "/v1/sessions", `{"host":"here"}`, []string{"Content-Type", "a b"}, 415, "is not supported: send JSON"},
		"another character set":        {"POST", "/v1/sessions", `{"host":"here"}`, []string{"Content-Type", "application/json; charset=latin1"}, 415, "the character set \"latin1\" is not supported: JSON is UTF-8"},
		"a compressed body":            {"PUT", "/v1/files?host=here&path=/nowhere/f", "x", []string{"Content-Encoding", "gzip"}, 415, "the content encoding \"gzip\" is not supported"},
		"a compressed input":           {"POST", "/v1/runs/r/stdin", "x", []string{"Content-Encoding", "zstd"}, 415, "the content encoding \"zstd\" is not supported"},
		"a body that is as it comes":   {"POST", "/v1/sessions", `{"host":"here"}`, []string{"Content-Encoding", "Identity"}, 201, ""},
		"a part of a body":             {"PUT", "/v1/files?host=here&path=/nowhere/f", "x", []string{"Content-Range", "bytes 5-5/6"}, 400, "Content-Range is not supported: send the whole content"},
		"a body where none is taken":   {"POST", "/v1/execs/e_none/stop", `{"signal":"KILL"}`, nil, 400, "POST /v1/execs/{id}/stop takes no body"},
		"a body of a GET":              {"GET", "/v1/hosts", `{"selector":"here"}`, nil, 400, "GET /v1/hosts takes no body"},
		"a body that says nothing":     {"POST", "/v1/execs/e_none/stop", ` {} `, nil, 404, ""},
		"a body that is null":          {"DELETE", "/v1/sessions/s_none", `null`, nil, 404, ""},
		"a parameter that comes twice": {"GET", "/v1/hosts?selector=here&selector=all", "", nil, 422, "the query parameter selector must be there once"},
		"a parameter that is empty":    {"GET", "/v1/hosts?selector=", "", nil, 422, "the query parameter selector is empty: give it a value, or leave it out"},
		"an empty filter":              {"GET", "/agent/terminal/commands?sandbox_id=", "", nil, 422, "the query parameter sandbox_id is empty"},
		"a selector of nothing":        {"GET", "/v1/hosts?selector=%20", "", nil, 422, "the selector is empty"},
		"a run on nothing":             {"POST", "/v1/runs", `{"id":"r_nothing","selector":" ","command":"true"}`, nil, 422, "the selector is empty"},
		"the jobs on nothing":          {"GET", "/v1/jobs?selector=%20", "", nil, 422, "the selector is empty"},
		"the first page":               {"GET", "/v1/jobs?cursor=&reason=", "", nil, 200, ""},
	} {
		t.Run(name, func(t *testing.T) {
			status, p, text := w.Send(tt.method, tt.path, tt.body, tt.headers...)
			assert.Equal(t, tt.status, status, text)
			assert.Contains(t, p.Detail, tt.says)
		})
	}
}

// A HEAD of a stream has an end, as every answer without a body.
func TestAStreamsHeadersAreAnAnswer(t *testing.T) {
	w := keepertest.Start(t)
	s := w.OpenSession("here", "work")
	v, err := w.Start(t.Context(), s.ID, wire.Run{Command: "sleep 1000"}, "") // its stream goes on
	require.NoError(t, err)
	c := w.HTTP()
	for _, path := range []string{"/v1/events", "/v1/execs/" + v.Exec + "/stream", "/v1/watch/" + s.ID + "/stream"} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		req, err := http.NewRequestWithContext(ctx, "HEAD", "http://localhost"+path, nil)
		require.NoError(t, err)
		resp, err := c.Do(req)
		require.NoError(t, err)
		assert.Equal(t, http.StatusOK, resp.StatusCode, path)
		assert.Equal(t, "text/event-stream", resp.Header.Get("Content-Type"), path)
		resp.Body.Close()
		req, err = http.NewRequestWithContext(ctx, "GET", "http://localhost/healthz", nil) // on the same connection
		require.NoError(t, err)
		resp, err = c.Do(req)
		require.NoError(t, err, path)
		resp.Body.Close()
		cancel()
	}
	_, err = w.StopExec(t.Context(), v.Exec)
	require.NoError(t, err)
}

// In the bodies of all routes that have one.
func TestEveryRouteRefusesFieldsThatItDoesNotKnow(t *testing.T) {
	w := keepertest.Start(t)
	_, _, text := w.Send("GET", "/openapi.json", "")
	var doc struct {
		Paths map[string]map[string]struct {
			Body struct{ Content map[string]any } `json:"requestBody"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(text), &doc))
	tried := 0
	for path, all := range doc.Paths {
		at := regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(path, "x")
		for method, op := range all {
			if op.Body.Content["application/json"] == nil {
				continue
			}
			tried++
			status, p, text := w.Send(strings.ToUpper(method), at, `{"nonsense":"hunter2"}`)
			assert.Equal(t, http.StatusUnprocessableEntity, status, "%s %s", method, path)
			assert.Contains(t, text, "nonsense", "%s %s: %s", method, path, p.Detail)
			assert.NotContains(t, text, "hunter2")
		}
	}
	assert.GreaterOrEqual(t, tried, 15)
}

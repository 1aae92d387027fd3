package keeper_test

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/session/store"
)

func TestTheAPIDescribesItself(t *testing.T) {
	w := keepertest.Start(t)
	status, _, text := w.Send("GET", "/openapi.json", "")
	require.Equal(t, http.StatusOK, status)
	var doc struct {
		OpenAPI string
		Paths   map[string]map[string]struct{ OperationID string }
	}
	require.NoError(t, json.Unmarshal([]byte(text), &doc))
	assert.True(t, strings.HasPrefix(doc.OpenAPI, "3.1"), doc.OpenAPI)
	for _, path := range []string{"/healthz", "/v1/hosts", "/v1/sessions", "/v1/sessions/{id}/execs", "/v1/execs/{id}/stream", "/v1/jobs", "/v1/jobs/{id}/output", "/v1/events", "/v1/approvals/{id}/approve", "/v1/audit/verify"} {
		assert.Contains(t, doc.Paths, path)
	}
}

func TestOtherSitesAreTurnedAway(t *testing.T) {
	w := keepertest.Start(t)
	for name, tt := range map[string]struct {
		headers []string
		want    int
	}{
		"no page":               {nil, 200},
		"our own":               {[]string{"Origin", "http://localhost"}, 200},
		"another site":          {[]string{"Origin", "http://evil.example"}, 403},
		"another port":          {[]string{"Origin", "http://localhost:81"}, 403},
		"a sandboxed page":      {[]string{"Origin", "null"}, 403},
		"another name for us":   {[]string{"Host", "evil.example"}, 200},
		"no name":               {[]string{"Host", "10.0.0.1"}, 200},
		"said by the browser":   {[]string{"Sec-Fetch-Site", "cross-site"}, 403},
		"another name and site": {[]string{"Host", "evil.example", "Origin", "http://evil.example"}, 403},
	} {
		t.Run(name, func(t *testing.T) {
			status, _, _ := w.Send("GET", "/v1/sessions", "", tt.headers...)
			assert.Equal(t, tt.want, status)
		})
	}
}

func TestRequestsThatMakeNoSenseAreProblemsWithoutWhatTheyHold(t *testing.T) {
	w := keepertest.Start(t)
	s := w.OpenSession("here", "s")
	box, err := w.Cfg.Store.CreateSandbox(t.Context(), store.Sandbox{Owner: "agent/claude", Host: "here", Path: "/srv", Active: true})
	require.NoError(t, err)
	for name, tt := range map[string]struct {
		method, path, body, code string
		status                   int
	}{
		"no such path":       {"GET", "/v1/nothing", "", "not_found", 404},
		"no such session":    {"POST", "/v1/sessions/none/execs", `{"command":"true"}`, "not_found", 404},
		"no such exec":       {"GET", "/v1/execs/e_none", "", "not_found", 404},
		"no JSON":            {"POST", "/v1/sessions/s/execs", `{"command":"hunter2hunter2`, "invalid", 400},
		"an unknown key":     {"POST", "/v1/sessions/s/execs", `{"command":"true","hunter2hunter2":"hunter2hunter2"}`, "invalid", 422},
		"a wrong type":       {"POST", "/v1/sessions/s/execs", `{"command":{"a":"hunter2hunter2"}}`, "invalid", 422},
		"a label of lines":   {"PATCH", "/agent/terminal/sandboxes/" + box.ID, `{"label":"a\nb"}`, "invalid", 422},
		"no command":         {"POST", "/v1/sessions/s/execs", `{}`, "invalid", 422},
		"a command of null":  {"POST", "/v1/sessions/s/execs", `{"command":null,"reason":"\"command\":1"}`, "invalid", 422},
		"a negative time":    {"POST", "/v1/sessions/s/execs", `{"command":"true","wait_s":-1}`, "invalid", 422},
		"a bad pattern":      {"POST", "/v1/sessions/s/execs", `{"command":"true","output":{"grep":"("}}`, "invalid", 422},
		"a secret's mark":    {"POST", "/v1/sessions/s/execs", `{"command":"echo «redacted:password:abcd1234»"}`, "invalid", 422},
		"a bad selector":     {"GET", "/v1/hosts?selector=%26", "", "invalid", 422},
		"a file as selector": {"GET", "/v1/hosts?selector=%5E/etc/passwd", "", "invalid", 422},
		"nobody":             {"GET", "/v1/hosts?selector=nobody", "", "not_found", 404},
		"no such host":       {"POST", "/v1/sessions", `{"host":"heer"}`, "not_found", 404},
		"a taken name":       {"POST", "/v1/sessions", `{"host":"here","name":"s"}`, "exists", 409},
		"a bad name":         {"POST", "/v1/sessions", `{"host":"here","name":"a b"}`, "invalid", 422},
		"too much":           {"POST", "/v1/sessions/s/execs", `{"command":"` + strings.Repeat("x", 3<<20) + `"}`, "too_large", 413},
	} {
		t.Run(name, func(t *testing.T) {
			status, p, text := w.Send(tt.method, tt.path, tt.body)
			assert.Equal(t, tt.status, status, text)
			assert.Equal(t, tt.code, p.Code, text)
			if strings.Contains(name, "label") {
				assert.Contains(t, p.Detail, "label")
			}
			if name != "an unknown key" {
				assert.NotContains(t, text, "hunter2", "what was sent is not repeated")
			}
		})
	}
	status, _, _ := w.Send("GET", "/v1/hosts", "", wire.Inventory, "relative.yaml")
	assert.Equal(t, http.StatusBadRequest, status)
	_ = s
}

func TestARequestThatIsCutOffHurtsNobody(t *testing.T) {
	w := keepertest.Start(t)
	for _, text := range []string{
		"POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"host\":",
		"POST /v1/sessions HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
		"GET /healthz HTTP/1.1\r\nHost: local",
		"\x00\xff\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + strings.Repeat("x", 64<<10) + "\r\n\r\n",
	} {
		c, err := net.Dial("unix", w.Places.Socket)
		require.NoError(t, err)
		_, _ = io.WriteString(c, text) // it may hang up meanwhile
		require.NoError(t, c.(*net.UnixConn).CloseWrite())
		_, _ = io.Copy(io.Discard, c)
		c.Close()
	}
	_, err := w.Health(t.Context())
	assert.NoError(t, err)
}

func TestHostsAreListedAsTheInventoryIsNow(t *testing.T) {
	w := keepertest.Start(t)
	w.OpenSession("here", "")
	hs, err := w.Hosts(t.Context(), "tier=dev")
	require.NoError(t, err)
	require.Len(t, hs, 1)
	assert.Equal(t, "connected", hs[0].Connection)
	hs, err = w.Hosts(t.Context(), "")
	require.NoError(t, err)
	require.Len(t, hs, 2)
	assert.Equal(t, "there", hs[1].Name)
	assert.Empty(t, hs[1].Connection)
}

func TestEventsTellWhatHappensToThoseItConcerns(t *testing.T) {
	w := keepertest.Start(t)
	status := func(as string) (*http.Response, error) {
		req, err := http.NewRequestWithContext(t.Context(), "GET", "http://localhost/v1/events", nil)
		require.NoError(t, err)
		if as != "" {
			req.Header.Set(wire.Principal, as)
		}
		return w.HTTP().Do(req)
	}
	all, err := status("")
	require.NoError(t, err)
	defer all.Body.Close()
	own, err := status("agent/a")
	require.NoError(t, err)
	defer own.Body.Close()
	s := w.OpenSession("here", "")
	r := w.RunIn(w.Client, s.ID, "true")
	as, err := w.As("agent/a").Open(t.Context(), wire.Open{Host: "here"})
	require.NoError(t, err)
	ar := w.RunIn(w.As("agent/a"), as.ID, "true")
	require.NoError(t, w.StopServing()) // which ends the streams
	text, _ := io.ReadAll(all.Body)
	assert.Contains(t, string(text), r.Exec)
	assert.Contains(t, string(text), ar.Exec)
	text, _ = io.ReadAll(own.Body)
	assert.NotContains(t, string(text), r.Exec)
	assert.Contains(t, string(text), ar.Exec)
	assert.Contains(t, string(text), "event: done\n")
}

// A sandbox takes some looking around, which nobody has asked for.
func TestWhatTheKeeperRunsForItselfIsNoEvent(t *testing.T) {
	w := keepertest.Start(t)
	req, err := http.NewRequestWithContext(t.Context(), "GET", "http://localhost/v1/events", nil)
	require.NoError(t, err)
	all, err := w.HTTP().Do(req)
	require.NoError(t, err)
	defer all.Body.Close()
	b, _ := w.Box("there")
	_, c := w.Post(wire.NewCommand{Sandbox: b.ID, Command: "pwd", CWD: "sub"})
	require.Equal(t, "executed", c.Status)
	require.NoError(t, w.StopServing()) // which ends the stream
	text, _ := io.ReadAll(all.Body)
	assert.Equal(t, 1, strings.Count(string(text), "event: done\n"), "%s", text)
	assert.Contains(t, string(text), c.Exec.Exec)
}

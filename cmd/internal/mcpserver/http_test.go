package mcpserver_test

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/approval"
)

// bearer adds a token to requests.
type bearer struct{ token string }

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return http.DefaultTransport.RoundTrip(r)
}

// overHTTP serves in behind a check of a token, as a caller would.
func overHTTP(t *testing.T, in *inside) string {
	t.Helper()
	h := in.HTTP()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer right" {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		srv.CloseClientConnections() // the SDK keeps a stream open for a while
		srv.Close()
	})
	return srv.URL
}

func TestClientsOverHTTPShareTheirPrincipalsSessions(t *testing.T) {
	in := newInside(t, false)
	url := overHTTP(t, in)
	dial := func() *client {
		return connect(t, &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer{"right"}}}, nil)
	}
	one, two := dial(), dial()
	id := one.open("here")
	r := two.exec(id, "echo through")
	require.Nil(t, r.Error, r.Raw)
	assert.Equal(t, "through\n", r.Stdout)
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, []byte("text"), 0o600))
	assert.Equal(t, "text", two.file("file_read", args{"session_id": id, "path": path}).Text)
	w := one.file("file_write", args{"host": "here", "path": path, "content": "new", "wait_s": 0})
	in.answer(t, in.waiting(t), true)
	assert.Equal(t, "ok", two.call("session_output", args{"exec_id": w.Exec}).Status)
}

func TestOverHTTPOtherSitesAreRefused(t *testing.T) {
	url := overHTTP(t, newInside(t, false))
	for name, change := range map[string]func(*http.Request){
		"another site's page": func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") },
		"another origin":      func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") },
		"another host's name": func(r *http.Request) { r.Host = "evil.example" },
	} {
		t.Run(name, func(t *testing.T) {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(hello))
			require.NoError(t, err)
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Accept", "application/json, text/event-stream")
			change(r)
			res, err := bearer{"right"}.RoundTrip(r)
			require.NoError(t, err)
			res.Body.Close()
			assert.Equal(t, http.StatusForbidden, res.StatusCode)
		})
	}
}

// The SDK reads ids as floating point.
func TestOverHTTPAnIDThatWouldNotComeBackIsRefused(t *testing.T) {
	url := overHTTP(t, newInside(t, false))
	send := func(method, session, body string) (*http.Response, string) {
		r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
		require.NoError(t, err)
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		res, err := bearer{"right"}.RoundTrip(r)
		require.NoError(t, err)
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return res, string(text)
	}
	begin := func(id string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	}
	for _, id := range []string{"9007199254740993", "1.5", `"\ud800"`} {
		for _, body := range []string{begin(id), "[" + begin(id) + "]"} {
			res, text := send(http.MethodPost, "", body)
			assert.Equal(t, http.StatusBadRequest, res.StatusCode, body)
			assert.Contains(t, text, `"id":`+id, body)
			assert.Contains(t, text, "use a text, or a whole number below 2^53", body)
		}
	}
	for _, id := range []string{"9007199254740991", `"9007199254740993"`} {
		res, text := send(http.MethodPost, "", begin(id))
		assert.Equal(t, http.StatusOK, res.StatusCode, text)
		assert.Contains(t, text, `"id":`+id)
		send(http.MethodDelete, res.Header.Get("Mcp-Session-Id"), "")
	}
}

// poster is a client over HTTP that sends what it is told to.
type poster struct {
	t            *testing.T
	url, session string
}

// newPoster returns one with a session, which ends with the test.
func newPoster(t *testing.T, url string) *poster {
	c := &poster{t: t, url: url}
	c.send(http.MethodPost, "", hello)
	c.send(http.MethodPost, "", greeted)
	t.Cleanup(func() { c.send(http.MethodDelete, "", "") })
	return c
}

func (c *poster) send(method, version, body string) (int, string) {
	c.t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, c.url, strings.NewReader(body))
	require.NoError(c.t, err)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	for name, value := range map[string]string{"Mcp-Session-Id": c.session, "Mcp-Protocol-Version": version} {
		if value != "" {
			r.Header.Set(name, value)
		}
	}
	res, err := bearer{"right"}.RoundTrip(r)
	require.NoError(c.t, err)
	defer res.Body.Close()
	c.session = cmp.Or(c.session, res.Header.Get("Mcp-Session-Id"))
	text, err := io.ReadAll(res.Body)
	require.NoError(c.t, err)
	return res.StatusCode, string(text)
}

func TestOverHTTPNothingOfABodyIsDropped(t *testing.T) {
	c := newPoster(t, overHTTP(t, newInside(t, false)))
	post := func(version, body string) (int, string) { return c.send(http.MethodPost, version, body) }
	ping := func(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}` }

	status, text := post("2025-03-26", "["+ping("11")+","+ping("12")+"]")
	assert.Equal(t, http.StatusOK, status, text)
	assert.Contains(t, text, `"id":11`)
	assert.Contains(t, text, `"id":12`)
	for body, why := range map[string]string{
		"[" + ping("21") + "," + ping("22") + "]": "batching is not supported",
		ping("31") + "\n" + ping("32"):            "it is not JSON",
		ping("41") + "]":                          "it is not JSON",
		"":                                        "it is not JSON",
		"[]":                                      "there is no message in it",
		"[" + ping("51") + ",7]":                  "no message of JSON-RPC",
		`"s3cret"`:                                "no message of JSON-RPC",
		"s3cret":                                  "it is not JSON",
	} {
		status, text := post("2025-06-18", body)
		assert.Equal(t, http.StatusBadRequest, status, "%s: %s", body, text)
		assert.Contains(t, text, why, body)
		assert.NotContains(t, text, "s3cret")
	}
}

// The SDK answers once the calls of the session have, and would wait for as long as they do.
func TestAClientThatEndsItsSessionOverHTTPCancelsItsCalls(t *testing.T) {
	in := newInside(t, false)
	url := overHTTP(t, in)
	c, other := newPoster(t, url), newPoster(t, url)
	call := func(c *poster, file string) func() {
		body := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"run","arguments":{"targets":"here","command":"touch ` + file + `","wait_s":50}}}`
		var wg sync.WaitGroup
		wg.Go(func() { c.send(http.MethodPost, "", body) })
		return wg.Wait
	}
	ended := call(c, "/nowhere/a")
	gone := in.waiting(t)
	goesOn := call(other, "/nowhere/b")
	stays := in.waiting(t)

	status, text := c.send(http.MethodDelete, "", "")
	assert.Equal(t, http.StatusNoContent, status, text)
	ended()
	_, err := in.desk.Get(gone.ID)
	require.ErrorIs(t, err, approval.ErrSettled, "it is withdrawn")
	_, err = in.desk.Get(stays.ID)
	require.NoError(t, err, "that of another session is not")
	in.answer(t, stays, false)
	goesOn()
}

// A client that connects again and again, and ends no session, must not fill the memory; the sessions that are used stay.
func TestOverHTTPTheSessionsThatWereUsedLongestAgoMakeRoom(t *testing.T) {
	in := newInside(t, false)
	url := overHTTP(t, in)
	busy, used, idle := newPoster(t, url), newPoster(t, url), newPoster(t, url)
	const ping = `{"jsonrpc":"2.0","id":3,"method":"ping"}`
	var wg sync.WaitGroup
	wg.Go(func() {
		_, text := busy.send(http.MethodPost, "", `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"run","arguments":{"targets":"here","command":"touch /nowhere/a"}}}`)
		assert.Contains(t, text, "rejected")
	})
	p := in.waiting(t)
	for i := range 300 {
		newPoster(t, url)
		if i%50 == 0 {
			status, text := used.send(http.MethodPost, "", ping)
			assert.Equal(t, http.StatusOK, status, text)
		}
	}
	status, text := idle.send(http.MethodPost, "", ping)
	assert.Equal(t, http.StatusNotFound, status, text)
	in.answer(t, p, false)
	wg.Wait()
	status, text = busy.send(http.MethodPost, "", ping)
	assert.Equal(t, http.StatusOK, status, text)
}

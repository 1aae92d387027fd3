package mcpserver_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
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
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(`{}`))
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

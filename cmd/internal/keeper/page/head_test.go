package page

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// HEAD is answered as GET is, without the body; what is not a page's own is refused with either.
func TestHeadIsAnsweredAsGet(t *testing.T) {
	h := &Handler{
		Door:   NewDoor("127.0.0.1:1"),
		API:    http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) }),
		Refuse: func(w http.ResponseWriter, status int, _, _ string) { w.WriteHeader(status) },
	}
	srv := httptest.NewServer(h)
	defer srv.Close()
	ask := func(method, path, host, site string) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), method, srv.URL+path, nil)
		require.NoError(t, err)
		r.Host = host
		if site != "" {
			r.Header.Set("Sec-Fetch-Site", site)
		}
		resp, err := srv.Client().Do(r)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		return resp
	}
	for _, tt := range []struct {
		path, host, site string
		status           int
	}{
		{"/", "127.0.0.1:1", "", 200},
		{"/", "127.0.0.1:1", "cross-site", 200}, // a link that is followed
		{"/index.html", "127.0.0.1:1", "", 200},
		{"/v1/hosts", "127.0.0.1:1", "", 401},
		{"/v1/hosts", "127.0.0.1:1", "cross-site", 403},
		{"/", "evil.example", "", 403},
	} {
		get, head := ask("GET", tt.path, tt.host, tt.site), ask("HEAD", tt.path, tt.host, tt.site)
		assert.Equal(t, tt.status, get.StatusCode, tt.path)
		assert.Equal(t, tt.status, head.StatusCode, tt.path)
		assert.Equal(t, get.Header.Get("Content-Type"), head.Header.Get("Content-Type"), tt.path)
		if tt.status == http.StatusOK {
			assert.Equal(t, get.ContentLength, head.ContentLength, tt.path)
		}
	}
	for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS"} {
		assert.Equal(t, http.StatusForbidden, ask(method, "/", "127.0.0.1:1", "").StatusCode, method)
	}
}

package keepertest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/page"
)

// Visitor is a browser's part, without the browser.
type Visitor struct {
	T      testing.TB
	Client *http.Client
	Origin string
	Code   string
	Token  string
	Cookie *http.Cookie
}

// Visit asks for a link. Nobody has used it yet.
func (w *World) Visit() *Visitor {
	w.T.Helper()
	l, err := w.Web(w.T.Context())
	require.NoError(w.T, err)
	origin, code, ok := strings.Cut(l.URL, "/#")
	require.True(w.T, ok, "the code stands where no server and no log sees it")
	assert.Regexp(w.T, `^http://127\.0\.0\.1:\d+$`, origin)
	tr := &http.Transport{}
	w.T.Cleanup(tr.CloseIdleConnections)
	return &Visitor{T: w.T, Client: &http.Client{Transport: tr}, Origin: origin, Code: code}
}

// Enter lets a visitor in.
func (w *World) Enter() *Visitor {
	w.T.Helper()
	v := w.Visit()
	resp, text := v.Do("POST", "/page/enter", map[string]string{"code": v.Code})
	require.Equal(w.T, http.StatusOK, resp.StatusCode, text)
	var in page.Entered
	require.NoError(w.T, json.Unmarshal([]byte(text), &in))
	assert.Equal(w.T, "operator/ada", in.Principal)
	require.Len(w.T, resp.Cookies(), 1)
	v.Token, v.Cookie = in.Token, resp.Cookies()[0]
	return v
}

// Do sends a request as the page does. Headers come in pairs; one that is empty is left out.
func (v *Visitor) Do(method, path string, in any, headers ...string) (*http.Response, string) {
	v.T.Helper()
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		require.NoError(v.T, err)
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(v.T.Context(), method, v.Origin+path, body)
	require.NoError(v.T, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	if method != http.MethodGet {
		req.Header.Set("Origin", v.Origin)
	}
	if v.Token != "" {
		req.Header.Set(page.Token, v.Token)
	}
	if v.Cookie != nil {
		req.AddCookie(v.Cookie)
	}
	for i := 0; i < len(headers); i += 2 {
		switch name, value := headers[i], headers[i+1]; {
		case name == "Host":
			req.Host = value
		case value == "":
			req.Header.Del(name)
		default:
			req.Header.Set(name, value)
		}
	}
	resp, err := v.Client.Do(req)
	require.NoError(v.T, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(v.T, err)
	return resp, string(text)
}

// Terminal opens a terminal on the page.
func (v *Visitor) Terminal(query string) *Terminal {
	v.T.Helper()
	ws, _, err := websocket.Dial(v.T.Context(), strings.Replace(v.Origin, "http", "ws", 1)+"/v1/terminals?"+query, &websocket.DialOptions{
		HTTPClient: v.Client, HTTPHeader: http.Header{"Origin": {v.Origin}, "Cookie": {v.Cookie.Name + "=" + v.Cookie.Value}},
		Subprotocols: []string{page.Protocol, page.TokenProtocol + v.Token},
	})
	require.NoError(v.T, err)
	v.T.Cleanup(func() { ws.CloseNow() })
	ws.SetReadLimit(1 << 20)
	return &Terminal{T: v.T.(*testing.T), Ws: ws}
}

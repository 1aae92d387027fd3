package keeper_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/page"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// visitor is a browser's part, without the browser.
type visitor struct {
	t      testing.TB
	client *http.Client
	origin string
	code   string
	token  string
	cookie *http.Cookie
}

// visit asks for a link. Nobody has used it yet.
func (w *world) visit() *visitor {
	w.t.Helper()
	l, err := w.Web(w.t.Context())
	require.NoError(w.t, err)
	origin, code, ok := strings.Cut(l.URL, "/#")
	require.True(w.t, ok, "the code stands where no server and no log sees it")
	assert.Regexp(w.t, `^http://127\.0\.0\.1:\d+$`, origin)
	tr := &http.Transport{}
	w.t.Cleanup(tr.CloseIdleConnections)
	return &visitor{t: w.t, client: &http.Client{Transport: tr}, origin: origin, code: code}
}

// enter lets a visitor in.
func (w *world) enter() *visitor {
	w.t.Helper()
	v := w.visit()
	resp, text := v.do("POST", "/page/enter", map[string]string{"code": v.code})
	require.Equal(w.t, http.StatusOK, resp.StatusCode, text)
	var in page.Entered
	require.NoError(w.t, json.Unmarshal([]byte(text), &in))
	assert.Equal(w.t, "operator/ada", in.Principal)
	require.Len(w.t, resp.Cookies(), 1)
	v.token, v.cookie = in.Token, resp.Cookies()[0]
	return v
}

// do sends a request as the page does. Headers come in pairs; one that is empty is left out.
func (v *visitor) do(method, path string, in any, headers ...string) (*http.Response, string) {
	v.t.Helper()
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		require.NoError(v.t, err)
		body = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(v.t.Context(), method, v.origin+path, body)
	require.NoError(v.t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	if method != http.MethodGet {
		req.Header.Set("Origin", v.origin)
	}
	if v.token != "" {
		req.Header.Set(page.Token, v.token)
	}
	if v.cookie != nil {
		req.AddCookie(v.cookie)
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
	resp, err := v.client.Do(req)
	require.NoError(v.t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(v.t, err)
	return resp, string(text)
}

func TestALinkLetsOneBrowserIn(t *testing.T) {
	w := start(t)
	v := w.enter()
	assert.True(t, v.cookie.HttpOnly)
	assert.Equal(t, http.SameSiteStrictMode, v.cookie.SameSite)
	assert.NotContains(t, v.cookie.Value+v.token, v.code)
	resp, text := v.do("GET", "/v1/hosts", nil)
	require.Equal(t, http.StatusOK, resp.StatusCode, text)
	assert.Contains(t, text, `"there"`)

	resp, text = v.do("POST", "/page/enter", map[string]string{"code": v.code})
	assert.Equal(t, http.StatusForbidden, resp.StatusCode)
	assert.Contains(t, text, "fairlead web")
	assert.Empty(t, resp.Cookies())
	for name, headers := range map[string][]string{
		"without the token":  {page.Token, ""},
		"with another token": {page.Token, "x"},
		"without the cookie": {"Cookie", ""},
		"with another one":   {"Cookie", v.cookie.Name + "=x"},
	} {
		for _, path := range []string{"/v1/hosts", "/healthz", "/v1/events", "/openapi.json", "/metrics", "/nothing"} {
			resp, _ := v.do("GET", path, nil, headers...)
			assert.Equal(t, http.StatusUnauthorized, resp.StatusCode, "%s %s", path, name)
		}
	}
	resp, _ = v.do("POST", "/page/leave", nil)
	assert.Equal(t, http.StatusNoContent, resp.StatusCode)
	resp, _ = v.do("GET", "/v1/hosts", nil)
	assert.Equal(t, http.StatusUnauthorized, resp.StatusCode)
}

func TestOtherSitesGetNothingFromThePage(t *testing.T) {
	w := start(t)
	v := w.enter()
	for name, headers := range map[string][]string{
		"a name that leads here":            {"Host", "evil.example"},
		"localhost":                         {"Host", "localhost"},
		"another site":                      {"Origin", "https://evil.example", "Sec-Fetch-Site", "cross-site"},
		"another port of this machine":      {"Origin", "http://127.0.0.1:1", "Sec-Fetch-Site", "same-site"},
		"one that says nothing of itself":   {"Origin", "null"},
		"an agent's name":                   {wire.Principal, "agent/x"},
		"an inventory":                      {wire.Inventory, "/x"},
		"somebody's keys":                   {wire.AuthSock, "/x"},
		"a token for elsewhere":             {"Authorization", "Bearer fairlead_x"},
		"a link of another site to the API": {"Sec-Fetch-Site", "cross-site"},
	} {
		resp, _ := v.do("GET", "/v1/hosts", nil, headers...)
		assert.Equal(t, http.StatusForbidden, resp.StatusCode, "%s: reading", name)
		resp, _ = v.do("POST", "/v1/approvals/x/reject", wire.Answer{}, headers...)
		assert.Equal(t, http.StatusForbidden, resp.StatusCode, "%s: changing", name)
	}
	resp, _ := v.do("POST", "/page/enter", map[string]string{"code": w.visit().code}, "Origin", "")
	assert.Equal(t, http.StatusForbidden, resp.StatusCode, "a request of no page")
	resp, _ = v.do("GET", "/", nil, "Sec-Fetch-Site", "cross-site")
	assert.Equal(t, http.StatusOK, resp.StatusCode, "but a link may lead to the page itself")

	dial := func(origin string) error {
		c, resp, err := websocket.Dial(t.Context(), strings.Replace(v.origin, "http", "ws", 1)+"/v1/terminals?host=here", &websocket.DialOptions{
			HTTPHeader:   http.Header{"Origin": {origin}, "Cookie": {v.cookie.Name + "=" + v.cookie.Value}},
			Subprotocols: []string{page.Protocol, page.TokenProtocol + v.token},
		})
		if err == nil {
			assert.Equal(t, page.Protocol, resp.Header.Get("Sec-WebSocket-Protocol"), "the token is not said again")
			c.CloseNow()
		}
		return err
	}
	assert.Error(t, dial("http://127.0.0.1:1"))
}

func TestEveryAnswerOfThePageKeepsScriptsOut(t *testing.T) {
	w := start(t)
	v := w.enter()
	for _, path := range []string{"/", "/v1/hosts", "/nothing", "/page/enter", "/style.css"} {
		resp, _ := v.do("GET", path, nil)
		csp := resp.Header.Get("Content-Security-Policy")
		assert.Contains(t, csp, "default-src 'none'; script-src 'self';", path)
		assert.Contains(t, csp, "frame-ancestors 'none'", path)
		assert.Equal(t, "nosniff", resp.Header.Get("X-Content-Type-Options"), path)
		assert.Equal(t, "no-store", resp.Header.Get("Cache-Control"), path)
		assert.Equal(t, "no-referrer", resp.Header.Get("Referrer-Policy"), path)
	}
	for _, path := range []string{"/../door.go", "/site", "/site/index.html", "/vendor", "/%2e%2e/door.go"} {
		resp, _ := v.do("GET", path, nil)
		assert.GreaterOrEqual(t, resp.StatusCode, 300, path)
	}
	resp, _ := v.do("POST", "/page/enter", map[string]string{"code": strings.Repeat("x", 8<<10)})
	assert.Equal(t, http.StatusBadRequest, resp.StatusCode)
}

// The page watches, answers and sits at terminals: no more of what the account may.
func TestThePageMayDoWhatItIsFor(t *testing.T) {
	w := start(t)
	v := w.enter()
	for _, route := range slices.Sorted(maps.Keys(rights)) {
		roles := rights[route]
		may := slices.Contains(roles, "viewer") || slices.Contains(roles, "approver") || route == "GET /v1/terminals" ||
			strings.HasSuffix(route, " /v1/questions") || strings.HasSuffix(route, " /v1/questions/{id}")
		method, path, _ := strings.Cut(route, " ")
		if path == "/v1/events" {
			continue // it has no end
		}
		var in any
		if method != http.MethodGet && method != http.MethodDelete {
			in = struct{}{}
		}
		resp, text := v.do(method, strings.ReplaceAll(path, "{id}", "x"), in)
		assert.Equal(t, may, resp.StatusCode != http.StatusForbidden, "%s: %d %s", route, resp.StatusCode, text)
		assert.NotEqual(t, http.StatusUnauthorized, resp.StatusCode, route)
	}
}

func TestAgentsGetNoLink(t *testing.T) {
	w := start(t)
	_, err := w.As("agent/a").Web(t.Context())
	assert.Equal(t, "forbidden", codeOf(t, err))
	r := startTCP(t)
	for _, role := range []string{"viewer", "operator", "approver", "admin"} {
		status, _ := r.over("POST", "/v1/web", r.token("operator/bob", role), "")
		assert.Equal(t, http.StatusForbidden, status, role)
	}
}

func TestAPersonAnswersOnThePage(t *testing.T) {
	w := start(t)
	agent := w.As("agent/a")
	s, err := agent.Open(t.Context(), wire.Open{Host: "there"})
	require.NoError(t, err)
	v := w.enter()
	ask := func() (wire.Approval, <-chan *wire.Result) {
		done := make(chan *wire.Result, 1)
		go func() {
			r, err := agent.Run(t.Context(), s.ID, wire.Run{Command: "touch /nowhere/at/all"}, "")
			assert.NoError(t, err)
			done <- r
		}()
		var list wire.Approvals
		require.Eventually(t, func() bool {
			_, text := v.do("GET", "/v1/approvals", nil)
			require.NoError(t, json.Unmarshal([]byte(text), &list))
			return len(list.Items) == 1
		}, time.Minute, 20*time.Millisecond)
		return list.Items[0], done
	}
	document := func(id string) (d wire.Document) {
		resp, text := v.do("GET", "/v1/approvals/"+id, nil)
		require.Equal(t, http.StatusOK, resp.StatusCode, text)
		require.NoError(t, json.Unmarshal([]byte(text), &d))
		return d
	}
	a, done := ask()
	d := document(a.ID)
	assert.Contains(t, string(d.Document), "touch /nowhere/at/all")
	resp, _ := v.do("POST", "/v1/approvals/"+a.ID+"/approve", wire.Answer{Digest: base64.StdEncoding.EncodeToString([]byte("other"))})
	assert.GreaterOrEqual(t, resp.StatusCode, 400, "a yes to something else")
	resp, text := v.do("POST", "/v1/approvals/"+a.ID+"/approve", wire.Answer{Digest: d.Digest})
	require.Equal(t, http.StatusNoContent, resp.StatusCode, text)
	r := <-done
	assert.Equal(t, "exit", r.Status)

	a, done = ask()
	resp, text = v.do("POST", "/v1/approvals/"+a.ID+"/reject", wire.Answer{Digest: document(a.ID).Digest, Reason: "not today"})
	require.Equal(t, http.StatusNoContent, resp.StatusCode, text)
	assert.Equal(t, "denied", (<-done).Status)
}

func TestAPageThatIsOpenKeepsNoKeeperFromEnding(t *testing.T) {
	w := start(t)
	v := w.enter()
	req, err := http.NewRequestWithContext(t.Context(), "GET", v.origin+"/v1/events", nil)
	require.NoError(t, err)
	req.Header.Set(page.Token, v.token)
	req.AddCookie(v.cookie)
	resp, err := v.client.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.NoError(t, w.stop())
	_, err = io.ReadAll(resp.Body)
	if err == nil {
		_, err = v.client.Get(v.origin)
	}
	assert.Error(t, err)
}

// terminal opens a terminal on the page.
func (v *visitor) terminal(query string) *terminal {
	v.t.Helper()
	ws, _, err := websocket.Dial(v.t.Context(), strings.Replace(v.origin, "http", "ws", 1)+"/v1/terminals?"+query, &websocket.DialOptions{
		HTTPClient: v.client, HTTPHeader: http.Header{"Origin": {v.origin}, "Cookie": {v.cookie.Name + "=" + v.cookie.Value}},
		Subprotocols: []string{page.Protocol, page.TokenProtocol + v.token},
	})
	require.NoError(v.t, err)
	v.t.Cleanup(func() { ws.CloseNow() })
	ws.SetReadLimit(1 << 20)
	return &terminal{t: v.t.(*testing.T), ws: ws}
}

func TestATerminalOnThePageShowsNoSecrets(t *testing.T) {
	w := start(t, withRecordings(t))
	const line, secret = `printf '%s%s.\n' AKIA IOSFODNN7EXAMPLA`, "AKIAIOSFODNN7EXAMPLA"
	own := w.terminal("host=here")
	own.line(line)
	own.see(secret + ".")

	c := w.enter().terminal("host=here&rows=30&cols=100")
	c.line("PS2= PS1=; stty -echo")
	c.line(line)
	c.see("redacted:aws")
	c.line(`printf 'passwor'; read x; printf 'd: '; read x; echo "=$x="`) // what is held back is shown when nothing more comes
	c.see("passwor")
	c.line("")
	c.see("d: ")
	c.line("typed")
	c.see("=typed=")
	c.line("exit 3")
	assert.Equal(t, websocket.StatusNormalClosure, c.see(""))
	assert.NotContains(t, c.seen.String(), secret)
	require.NotNil(t, c.end)
	assert.Equal(t, "exit", c.end.Status)
	cast, err := os.ReadFile(filepath.Join(w.cfg.Recordings, c.end.Recording))
	require.NoError(t, err)
	assert.Contains(t, string(cast), secret, "the recording is exact")
}

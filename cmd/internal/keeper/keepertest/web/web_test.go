package web_test

import (
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

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/page"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

func TestALinkLetsOneBrowserIn(t *testing.T) {
	w := keepertest.Start(t)
	v := w.Enter()
	assert.True(t, v.Cookie.HttpOnly)
	assert.Equal(t, http.SameSiteStrictMode, v.Cookie.SameSite)
	assert.NotContains(t, v.Cookie.Value+v.Token, v.Code)
	resp, text := v.Do("GET", "/v1/hosts", nil)
	require.Equal(t, http.StatusOK, resp.StatusCode, text)
	assert.Contains(t, text, `"there"`)

	resp, text = v.Do("POST", "/page/enter", map[string]string{"code": v.Code})
	assert.Equal(t, http.StatusForbidden, resp.StatusCode)
	assert.Contains(t, text, "fairlead web")
	assert.Empty(t, resp.Cookies())
	for name, headers := range map[string][]string{
		"without the token":  {page.Token, ""},
		"with another token": {page.Token, "x"},
		"without the cookie": {"Cookie", ""},
		"with another one":   {"Cookie", v.Cookie.Name + "=x"},
	} {
		for _, path := range []string{"/v1/hosts", "/healthz", "/v1/events", "/openapi.json", "/metrics", "/nothing"} {
			resp, _ := v.Do("GET", path, nil, headers...)
			assert.Equal(t, http.StatusUnauthorized, resp.StatusCode, "%s %s", path, name)
		}
	}
	resp, _ = v.Do("POST", "/page/leave", nil)
	assert.Equal(t, http.StatusNoContent, resp.StatusCode)
	resp, _ = v.Do("GET", "/v1/hosts", nil)
	assert.Equal(t, http.StatusUnauthorized, resp.StatusCode)
}

func TestOtherSitesGetNothingFromThePage(t *testing.T) {
	w := keepertest.Start(t)
	v := w.Enter()
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
		resp, _ := v.Do("GET", "/v1/hosts", nil, headers...)
		assert.Equal(t, http.StatusForbidden, resp.StatusCode, "%s: reading", name)
		resp, _ = v.Do("POST", "/v1/approvals/x/reject", wire.Answer{}, headers...)
		assert.Equal(t, http.StatusForbidden, resp.StatusCode, "%s: changing", name)
	}
	resp, _ := v.Do("POST", "/page/enter", map[string]string{"code": w.Visit().Code}, "Origin", "")
	assert.Equal(t, http.StatusForbidden, resp.StatusCode, "a request of no page")
	resp, _ = v.Do("GET", "/", nil, "Sec-Fetch-Site", "cross-site")
	assert.Equal(t, http.StatusOK, resp.StatusCode, "but a link may lead to the page itself")

	dial := func(origin string) error {
		c, resp, err := websocket.Dial(t.Context(), strings.Replace(v.Origin, "http", "ws", 1)+"/v1/terminals?host=here", &websocket.DialOptions{
			HTTPHeader:   http.Header{"Origin": {origin}, "Cookie": {v.Cookie.Name + "=" + v.Cookie.Value}},
			Subprotocols: []string{page.Protocol, page.TokenProtocol + v.Token},
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
	w := keepertest.Start(t)
	v := w.Enter()
	for _, path := range []string{"/", "/v1/hosts", "/nothing", "/page/enter", "/style.css"} {
		resp, _ := v.Do("GET", path, nil)
		csp := resp.Header.Get("Content-Security-Policy")
		assert.Contains(t, csp, "default-src 'none'; script-src 'self';", path)
		assert.Contains(t, csp, "frame-ancestors 'none'", path)
		assert.Equal(t, "nosniff", resp.Header.Get("X-Content-Type-Options"), path)
		assert.Equal(t, "no-store", resp.Header.Get("Cache-Control"), path)
		assert.Equal(t, "no-referrer", resp.Header.Get("Referrer-Policy"), path)
	}
	for _, path := range []string{"/../door.go", "/site", "/site/index.html", "/vendor", "/%2e%2e/door.go"} {
		resp, _ := v.Do("GET", path, nil)
		assert.GreaterOrEqual(t, resp.StatusCode, 300, path)
	}
	resp, _ := v.Do("POST", "/page/enter", map[string]string{"code": strings.Repeat("x", 8<<10)})
	assert.Equal(t, http.StatusBadRequest, resp.StatusCode)
}

// The page watches, answers and sits at terminals: no more of what the account may.
func TestThePageMayDoWhatItIsFor(t *testing.T) {
	w := keepertest.Start(t)
	v := w.Enter()
	for _, route := range slices.Sorted(maps.Keys(keepertest.Rights)) {
		roles := keepertest.Rights[route]
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
		resp, text := v.Do(method, strings.ReplaceAll(path, "{id}", "x"), in)
		assert.Equal(t, may, resp.StatusCode != http.StatusForbidden, "%s: %d %s", route, resp.StatusCode, text)
		assert.NotEqual(t, http.StatusUnauthorized, resp.StatusCode, route)
	}
}

func TestAgentsGetNoLink(t *testing.T) {
	w := keepertest.Start(t)
	_, err := w.As("agent/a").Web(t.Context())
	assert.Equal(t, "forbidden", keepertest.CodeOf(t, err))
	r := keepertest.StartTCP(t)
	for _, role := range []string{"viewer", "operator", "approver", "admin"} {
		status, _ := r.Over("POST", "/v1/web", r.Token("operator/bob", role), "")
		assert.Equal(t, http.StatusForbidden, status, role)
	}
}

func TestAPersonAnswersOnThePage(t *testing.T) {
	w := keepertest.Start(t)
	agent := w.As("agent/a")
	s, err := agent.Open(t.Context(), wire.Open{Host: "there"})
	require.NoError(t, err)
	v := w.Enter()
	ask := func() (wire.Approval, <-chan *wire.Result) {
		done := make(chan *wire.Result, 1)
		go func() {
			r, err := agent.Run(t.Context(), s.ID, wire.Run{Command: "touch /nowhere/at/all"}, "")
			assert.NoError(t, err)
			done <- r
		}()
		var list wire.Approvals
		require.Eventually(t, func() bool {
			_, text := v.Do("GET", "/v1/approvals", nil)
			require.NoError(t, json.Unmarshal([]byte(text), &list))
			return len(list.Items) == 1
		}, time.Minute, 20*time.Millisecond)
		return list.Items[0], done
	}
	document := func(id string) (d wire.Document) {
		resp, text := v.Do("GET", "/v1/approvals/"+id, nil)
		require.Equal(t, http.StatusOK, resp.StatusCode, text)
		require.NoError(t, json.Unmarshal([]byte(text), &d))
		return d
	}
	a, done := ask()
	d := document(a.ID)
	assert.Contains(t, string(d.Document), "touch /nowhere/at/all")
	resp, _ := v.Do("POST", "/v1/approvals/"+a.ID+"/approve", wire.Answer{Digest: base64.StdEncoding.EncodeToString([]byte("other"))})
	assert.GreaterOrEqual(t, resp.StatusCode, 400, "a yes to something else")
	resp, text := v.Do("POST", "/v1/approvals/"+a.ID+"/approve", wire.Answer{Digest: d.Digest})
	require.Equal(t, http.StatusNoContent, resp.StatusCode, text)
	r := <-done
	assert.Equal(t, "exit", r.Status)

	a, done = ask()
	resp, text = v.Do("POST", "/v1/approvals/"+a.ID+"/reject", wire.Answer{Digest: document(a.ID).Digest, Reason: "not today"})
	require.Equal(t, http.StatusNoContent, resp.StatusCode, text)
	assert.Equal(t, "denied", (<-done).Status)
}

func TestAPageThatIsOpenKeepsNoKeeperFromEnding(t *testing.T) {
	w := keepertest.Start(t)
	v := w.Enter()
	req, err := http.NewRequestWithContext(t.Context(), "GET", v.Origin+"/v1/events", nil)
	require.NoError(t, err)
	req.Header.Set(page.Token, v.Token)
	req.AddCookie(v.Cookie)
	resp, err := v.Client.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.NoError(t, w.StopServing())
	_, err = io.ReadAll(resp.Body)
	if err == nil {
		_, err = v.Client.Get(v.Origin)
	}
	assert.Error(t, err)
}

func TestATerminalOnThePageShowsNoSecrets(t *testing.T) {
	w := keepertest.Start(t, keepertest.WithRecordings(t))
	const line, secret = `printf '%s%s.\n' AKIA IOSFODNN7EXAMPLA`, "AKIAIOSFODNN7EXAMPLA"
	own := w.Terminal("host=here")
	own.Line(line)
	own.See(secret + ".")

	c := w.Enter().Terminal("host=here&rows=30&cols=100")
	c.Line("PS2= PS1=; stty -echo")
	c.Line(line)
	c.See("redacted:aws")
	c.Line(`printf 'passwor'; read x; printf 'd: '; read x; echo "=$x="`) // what is held back is shown when nothing more comes
	c.See("passwor")
	c.Line("")
	c.See("d: ")
	c.Line("typed")
	c.See("=typed=")
	c.Line("exit 3")
	assert.Equal(t, websocket.StatusNormalClosure, c.See(""))
	assert.NotContains(t, c.Seen.String(), secret)
	require.NotNil(t, c.End)
	assert.Equal(t, "exit", c.End.Status)
	cast, err := os.ReadFile(filepath.Join(w.Cfg.Recordings, c.End.Recording))
	require.NoError(t, err)
	assert.Contains(t, string(cast), secret, "the recording is exact")
}

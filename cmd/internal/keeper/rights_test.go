package keeper_test

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// make makes a token, and tells its id too.
func makeToken(r *keepertest.Remote, in wire.NewToken) (id, secret string) {
	r.T.Helper()
	var tok wire.Token
	status, p := r.API("", "POST", "/v1/tokens", in, &tok)
	require.Equal(r.T, http.StatusCreated, status, p.Detail)
	return tok.ID, tok.Secret
}

func revokeToken(r *keepertest.Remote, id string) {
	r.T.Helper()
	status, p := r.API("", "DELETE", "/v1/tokens/"+id, nil, nil)
	require.Equal(r.T, http.StatusNoContent, status, p.Detail)
}

// stream sends a request over TCP and returns its answer, which goes on.
func streamOver(r *keepertest.Remote, method, path, secret, body string, headers ...string) *http.Response {
	r.T.Helper()
	req, err := http.NewRequestWithContext(r.T.Context(), method, r.Url+path, strings.NewReader(body))
	require.NoError(r.T, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+secret)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := r.HTTP.Do(req)
	require.NoError(r.T, err)
	r.T.Cleanup(func() { resp.Body.Close() })
	return resp
}

// sit opens a terminal with a token.
func sit(r *keepertest.Remote, secret string) *keepertest.Terminal {
	r.T.Helper()
	ws, _, err := websocket.Dial(r.T.Context(), strings.Replace(r.Url, "http", "ws", 1)+"/v1/terminals?host=here", &websocket.DialOptions{
		HTTPClient: r.HTTP, HTTPHeader: http.Header{"Authorization": {"Bearer " + secret}},
	})
	require.NoError(r.T, err)
	r.T.Cleanup(func() { ws.CloseNow() })
	ws.SetReadLimit(1 << 20)
	return &keepertest.Terminal{T: r.T.(*testing.T), Ws: ws}
}

// ended checks that a terminal was hung up and says why.
func endsWith(c *keepertest.Terminal, why string) {
	c.T.Helper()
	for {
		_, p, err := c.Ws.Read(c.T.Context())
		if err == nil {
			c.Seen.Write(p)
			continue
		}
		var e websocket.CloseError
		require.ErrorAs(c.T, err, &e)
		assert.Equal(c.T, websocket.StatusPolicyViolation, e.Code)
		assert.Contains(c.T, e.Reason, why)
		break
	}
	assert.Contains(c.T, c.Seen.String(), `"status":"canceled"`)
	assert.Contains(c.T, c.Seen.String(), why)
}

func exists(path string) func() bool {
	return func() bool {
		_, err := os.Stat(path)
		return err == nil
	}
}

func TestARevokedTokenHasNoTerminalAndNoStreamAnyMore(t *testing.T) {
	r := keepertest.StartTCP(t, keepertest.WithRecordings(t))
	id, secret := makeToken(r, wire.NewToken{Principal: "operator/bob", Role: "operator"})
	other, otherSecret := makeToken(r, wire.NewToken{Principal: "operator/bob", Role: "operator"})
	s := r.OpenSession("here", "watched")
	c, stays := sit(r, secret), sit(r, otherSecret)
	for _, c := range []*keepertest.Terminal{c, stays} {
		c.Line(`echo "=$((40+2))="`)
		c.See("=42=")
	}
	events, watch := streamOver(r, "GET", "/v1/events", secret, ""), streamOver(r, "GET", "/v1/watch/"+s.ID+"/stream", secret, "")
	began := filepath.Join(r.Dir, "began")
	run := streamOver(r, "POST", "/v1/runs", secret, fmt.Sprintf(`{"id":"r_revoked","host":"here","command":"touch %s; sleep 1000"}`, began))
	require.Eventually(t, exists(began), time.Minute, 50*time.Millisecond)

	revokeToken(r, id)
	made := filepath.Join(r.Dir, "made")
	_ = c.Ws.Write(t.Context(), websocket.MessageBinary, []byte("touch "+made+"\n")) // it may be closed already
	endsWith(c, "the token was revoked")
	for name, resp := range map[string]*http.Response{"events": events, "watch": watch, "run": run} {
		text := keepertest.Rest(t, resp)
		assert.Contains(t, text, "event: problem\n", name)
		assert.Contains(t, text, "the token was revoked", name)
		assert.NotContains(t, text, "event: end\n", name)
	}
	assert.NoFileExists(t, made)
	require.Eventually(t, func() bool {
		status, _ := r.API("operator/bob", "POST", "/v1/runs/r_revoked/stop", nil, nil)
		return status != http.StatusAccepted
	}, time.Minute, 50*time.Millisecond, "whoever took its output is gone")

	stays.Line(`echo "=$((40+3))="`)
	stays.See("=43=")
	revokeToken(r, other)
	endsWith(stays, "the token was revoked")
}

func TestWhatARevokedTokenWaitsForGoesOnWithoutIt(t *testing.T) {
	r := keepertest.StartTCP(t)
	id, secret := makeToken(r, wire.NewToken{Principal: "operator/bob", Role: "operator"})
	status, p := r.Over("POST", "/v1/sessions", secret, `{"host":"here","name":"work"}`)
	require.Equal(t, http.StatusCreated, status, p.Detail)
	began, goOn, ended := filepath.Join(r.Dir, "began"), filepath.Join(r.Dir, "go"), filepath.Join(r.Dir, "ended")
	answers := make(chan wire.Problem, 1)
	go func() {
		_, p := r.Over("POST", "/v1/sessions/work/execs", secret, fmt.Sprintf(`{"command":"touch %s; until [ -e %s ]; do sleep 0.02; done; touch %s","wait_s":50}`, began, goOn, ended))
		answers <- p
	}()
	require.Eventually(t, exists(began), time.Minute, 50*time.Millisecond)
	revokeToken(r, id)
	p = <-answers
	assert.Equal(t, http.StatusUnauthorized, p.Status)
	assert.Contains(t, p.Detail, "the token was revoked")
	assert.NoFileExists(t, ended)
	require.NoError(t, os.WriteFile(goOn, nil, 0o600))
	require.Eventually(t, exists(ended), time.Minute, 50*time.Millisecond)
}

func TestARevokedTokenFeedsNoCommandAnyMore(t *testing.T) {
	r := keepertest.StartTCP(t)
	id, secret := makeToken(r, wire.NewToken{Principal: "operator/bob", Role: "operator"})
	_, feeding := makeToken(r, wire.NewToken{Principal: "operator/bob", Role: "operator"})
	taken := filepath.Join(r.Dir, "taken")
	run := streamOver(r, "POST", "/v1/runs", feeding, fmt.Sprintf(`{"id":"r_is_fed","hosts":["here"],"stdin":true,"command":"cat >%s; echo over"}`, taken))
	events := bufio.NewScanner(run.Body)
	for events.Scan() && events.Text() != "event: stdin" {
	}
	in, out := io.Pipe()
	req, err := http.NewRequestWithContext(t.Context(), "POST", r.Url+"/v1/runs/r_is_fed/stdin?host=0", in)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+secret)
	answers := make(chan *http.Response, 1)
	go func() {
		resp, err := r.HTTP.Do(req)
		if assert.NoError(t, err) {
			resp.Body.Close()
		}
		answers <- resp
	}()
	_, err = io.WriteString(out, "before")
	require.NoError(t, err)
	require.Eventually(t, func() bool { text, _ := os.ReadFile(taken); return string(text) == "before" }, time.Minute, 50*time.Millisecond)
	revokeToken(r, id)
	resp := <-answers
	require.NotNil(t, resp)
	assert.Equal(t, http.StatusUnauthorized, resp.StatusCode)
	out.Close()
	text, err := os.ReadFile(taken)
	require.NoError(t, err)
	assert.Equal(t, "before", string(text))
}

func TestARevokedTokensAgentIsServedNoMore(t *testing.T) {
	r := keepertest.StartTCP(t)
	id, secret := makeToken(r, wire.NewToken{Principal: "agent/a", Role: "agent"})
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	resp := streamOver(r, "POST", "/mcp", secret, hello, "Accept", "application/json, text/event-stream")
	require.Equal(t, http.StatusOK, resp.StatusCode)
	_ = keepertest.Rest(t, resp)
	listening := streamOver(r, "GET", "/mcp", secret, "", "Accept", "text/event-stream", "Mcp-Session-Id", resp.Header.Get("Mcp-Session-Id"), "Mcp-Protocol-Version", "2025-06-18")
	require.Equal(t, http.StatusOK, listening.StatusCode)

	conn, err := tls.Dial("tcp", strings.TrimPrefix(r.Url, "https://"), r.HTTP.Transport.(*http.Transport).TLSClientConfig)
	require.NoError(t, err)
	defer conn.Close()
	_, err = fmt.Fprintf(conn, "GET /v1/mcp HTTP/1.1\r\nHost: keeper.test\r\nConnection: Upgrade\r\nUpgrade: %s\r\nAuthorization: Bearer %s\r\n\r\n%s\n", wire.UpgradeMCP, secret, hello)
	require.NoError(t, err)
	lines := bufio.NewReader(conn)
	for {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		if strings.Contains(line, `"serverInfo"`) {
			break
		}
	}
	revokeToken(r, id)
	_ = keepertest.Rest(t, listening)
	_, err = io.ReadAll(lines)
	assert.NoError(t, err, "it has ended")

	// What the agent has stays, for its other token.
	over := streamOver(r, "DELETE", "/mcp", r.Token("agent/a", "agent"), "", "Mcp-Session-Id", resp.Header.Get("Mcp-Session-Id"))
	assert.Equal(t, http.StatusNoContent, over.StatusCode)
}

func TestATokenEndsAtItsTimeWithAllThatIsDoneWithIt(t *testing.T) {
	r := keepertest.StartTCP(t, keepertest.WithRecordings(t))
	_, secret := makeToken(r, wire.NewToken{Principal: "operator/bob", Role: "operator", TTLS: 6})
	c, events := sit(r, secret), streamOver(r, "GET", "/v1/events", secret, "")
	endsWith(c, "the token has expired")
	assert.Contains(t, keepertest.Rest(t, events), "the token has expired")
}

// Another keeper of the same store knows nothing of what is done here.
func TestATokenThatIsRevokedElsewhereEndsHereToo(t *testing.T) {
	r := keepertest.StartTCP(t, keepertest.WithRecordings(t), func(c *keeper.Config) { c.SweepEvery(20 * time.Millisecond) })
	id, secret := makeToken(r, wire.NewToken{Principal: "operator/bob", Role: "operator"})
	c, events := sit(r, secret), streamOver(r, "GET", "/v1/events", secret, "")
	require.NoError(t, r.Cfg.Store.RevokeToken(t.Context(), id))
	endsWith(c, "the token was revoked")
	assert.Contains(t, keepertest.Rest(t, events), "the token was revoked")
}

func TestWhoeverRevokesTheirOwnTokenIsAnswered(t *testing.T) {
	r := keepertest.StartTCP(t)
	id, secret := makeToken(r, wire.NewToken{Principal: "operator/bob", Role: "admin"})
	status, p := r.Over("DELETE", "/v1/tokens/"+id, secret, "")
	assert.Equal(t, http.StatusNoContent, status, p.Detail)
	status, _ = r.Over("GET", "/healthz", secret, "")
	assert.Equal(t, http.StatusUnauthorized, status)
}

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
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// make makes a token, and tells its id too.
func (r *remote) make(in wire.NewToken) (id, secret string) {
	r.t.Helper()
	var tok wire.Token
	status, p := r.api("", "POST", "/v1/tokens", in, &tok)
	require.Equal(r.t, http.StatusCreated, status, p.Detail)
	return tok.ID, tok.Secret
}

func (r *remote) revoke(id string) {
	r.t.Helper()
	status, p := r.api("", "DELETE", "/v1/tokens/"+id, nil, nil)
	require.Equal(r.t, http.StatusNoContent, status, p.Detail)
}

// stream sends a request over TCP and returns its answer, which goes on.
func (r *remote) stream(method, path, secret, body string, headers ...string) *http.Response {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.url+path, strings.NewReader(body))
	require.NoError(r.t, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+secret)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := r.client.Do(req)
	require.NoError(r.t, err)
	r.t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// rest is what comes of an answer until it ends.
func rest(t *testing.T, resp *http.Response) string {
	t.Helper()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	return string(text)
}

// sit opens a terminal with a token.
func (r *remote) sit(secret string) *terminal {
	r.t.Helper()
	ws, _, err := websocket.Dial(r.t.Context(), strings.Replace(r.url, "http", "ws", 1)+"/v1/terminals?host=here", &websocket.DialOptions{
		HTTPClient: r.client, HTTPHeader: http.Header{"Authorization": {"Bearer " + secret}},
	})
	require.NoError(r.t, err)
	r.t.Cleanup(func() { ws.CloseNow() })
	ws.SetReadLimit(1 << 20)
	return &terminal{t: r.t.(*testing.T), ws: ws}
}

// ended checks that a terminal was hung up and says why.
func (c *terminal) ended(why string) {
	c.t.Helper()
	for {
		_, p, err := c.ws.Read(c.t.Context())
		if err == nil {
			c.seen.Write(p)
			continue
		}
		var e websocket.CloseError
		require.ErrorAs(c.t, err, &e)
		assert.Equal(c.t, websocket.StatusPolicyViolation, e.Code)
		assert.Contains(c.t, e.Reason, why)
		break
	}
	assert.Contains(c.t, c.seen.String(), `"status":"canceled"`)
	assert.Contains(c.t, c.seen.String(), why)
}

func exists(path string) func() bool {
	return func() bool {
		_, err := os.Stat(path)
		return err == nil
	}
}

func TestARevokedTokenHasNoTerminalAndNoStreamAnyMore(t *testing.T) {
	r := startTCP(t, withRecordings(t))
	id, secret := r.make(wire.NewToken{Principal: "operator/bob", Role: "operator"})
	other, otherSecret := r.make(wire.NewToken{Principal: "operator/bob", Role: "operator"})
	s := r.open("here", "watched")
	c, stays := r.sit(secret), r.sit(otherSecret)
	for _, c := range []*terminal{c, stays} {
		c.line(`echo "=$((40+2))="`)
		c.see("=42=")
	}
	events, watch := r.stream("GET", "/v1/events", secret, ""), r.stream("GET", "/v1/watch/"+s.ID+"/stream", secret, "")
	began := filepath.Join(r.dir, "began")
	run := r.stream("POST", "/v1/runs", secret, fmt.Sprintf(`{"id":"r_revoked","host":"here","command":"touch %s; sleep 1000"}`, began))
	require.Eventually(t, exists(began), time.Minute, 50*time.Millisecond)

	r.revoke(id)
	made := filepath.Join(r.dir, "made")
	_ = c.ws.Write(t.Context(), websocket.MessageBinary, []byte("touch "+made+"\n")) // it may be closed already
	c.ended("the token was revoked")
	for name, resp := range map[string]*http.Response{"events": events, "watch": watch, "run": run} {
		text := rest(t, resp)
		assert.Contains(t, text, "event: problem\n", name)
		assert.Contains(t, text, "the token was revoked", name)
		assert.NotContains(t, text, "event: end\n", name)
	}
	assert.NoFileExists(t, made)
	require.Eventually(t, func() bool {
		status, _ := r.api("operator/bob", "POST", "/v1/runs/r_revoked/stop", nil, nil)
		return status != http.StatusAccepted
	}, time.Minute, 50*time.Millisecond, "whoever took its output is gone")

	stays.line(`echo "=$((40+3))="`)
	stays.see("=43=")
	r.revoke(other)
	stays.ended("the token was revoked")
}

func TestWhatARevokedTokenWaitsForGoesOnWithoutIt(t *testing.T) {
	r := startTCP(t)
	id, secret := r.make(wire.NewToken{Principal: "operator/bob", Role: "operator"})
	status, p := r.over("POST", "/v1/sessions", secret, `{"host":"here","name":"work"}`)
	require.Equal(t, http.StatusCreated, status, p.Detail)
	began, goOn, ended := filepath.Join(r.dir, "began"), filepath.Join(r.dir, "go"), filepath.Join(r.dir, "ended")
	answers := make(chan wire.Problem, 1)
	go func() {
		_, p := r.over("POST", "/v1/sessions/work/execs", secret, fmt.Sprintf(`{"command":"touch %s; until [ -e %s ]; do sleep 0.02; done; touch %s","wait_s":50}`, began, goOn, ended))
		answers <- p
	}()
	require.Eventually(t, exists(began), time.Minute, 50*time.Millisecond)
	r.revoke(id)
	p = <-answers
	assert.Equal(t, http.StatusUnauthorized, p.Status)
	assert.Contains(t, p.Detail, "the token was revoked")
	assert.NoFileExists(t, ended)
	require.NoError(t, os.WriteFile(goOn, nil, 0o600))
	require.Eventually(t, exists(ended), time.Minute, 50*time.Millisecond)
}

func TestARevokedTokenFeedsNoCommandAnyMore(t *testing.T) {
	r := startTCP(t)
	id, secret := r.make(wire.NewToken{Principal: "operator/bob", Role: "operator"})
	_, feeding := r.make(wire.NewToken{Principal: "operator/bob", Role: "operator"})
	taken := filepath.Join(r.dir, "taken")
	run := r.stream("POST", "/v1/runs", feeding, fmt.Sprintf(`{"id":"r_is_fed","hosts":["here"],"stdin":true,"command":"cat >%s; echo over"}`, taken))
	events := bufio.NewScanner(run.Body)
	for events.Scan() && events.Text() != "event: stdin" {
	}
	in, out := io.Pipe()
	req, err := http.NewRequestWithContext(t.Context(), "POST", r.url+"/v1/runs/r_is_fed/stdin?host=0", in)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+secret)
	answers := make(chan *http.Response, 1)
	go func() {
		resp, err := r.client.Do(req)
		if assert.NoError(t, err) {
			resp.Body.Close()
		}
		answers <- resp
	}()
	_, err = io.WriteString(out, "before")
	require.NoError(t, err)
	require.Eventually(t, func() bool { text, _ := os.ReadFile(taken); return string(text) == "before" }, time.Minute, 50*time.Millisecond)
	r.revoke(id)
	resp := <-answers
	require.NotNil(t, resp)
	assert.Equal(t, http.StatusUnauthorized, resp.StatusCode)
	out.Close()
	text, err := os.ReadFile(taken)
	require.NoError(t, err)
	assert.Equal(t, "before", string(text))
}

func TestARevokedTokensAgentIsServedNoMore(t *testing.T) {
	r := startTCP(t)
	id, secret := r.make(wire.NewToken{Principal: "agent/a", Role: "agent"})
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	resp := r.stream("POST", "/mcp", secret, hello, "Accept", "application/json, text/event-stream")
	require.Equal(t, http.StatusOK, resp.StatusCode)
	_ = rest(t, resp)
	listening := r.stream("GET", "/mcp", secret, "", "Accept", "text/event-stream", "Mcp-Session-Id", resp.Header.Get("Mcp-Session-Id"), "Mcp-Protocol-Version", "2025-06-18")
	require.Equal(t, http.StatusOK, listening.StatusCode)

	conn, err := tls.Dial("tcp", strings.TrimPrefix(r.url, "https://"), r.client.Transport.(*http.Transport).TLSClientConfig)
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
	r.revoke(id)
	_ = rest(t, listening)
	_, err = io.ReadAll(lines)
	assert.NoError(t, err, "it has ended")

	// What the agent has stays, for its other token.
	over := r.stream("DELETE", "/mcp", r.token("agent/a", "agent"), "", "Mcp-Session-Id", resp.Header.Get("Mcp-Session-Id"))
	assert.Equal(t, http.StatusNoContent, over.StatusCode)
}

func TestATokenEndsAtItsTimeWithAllThatIsDoneWithIt(t *testing.T) {
	r := startTCP(t, withRecordings(t))
	_, secret := r.make(wire.NewToken{Principal: "operator/bob", Role: "operator", TTLS: 6})
	c, events := r.sit(secret), r.stream("GET", "/v1/events", secret, "")
	c.ended("the token has expired")
	assert.Contains(t, rest(t, events), "the token has expired")
}

// Another keeper of the same store knows nothing of what is done here.
func TestATokenThatIsRevokedElsewhereEndsHereToo(t *testing.T) {
	r := startTCP(t, withRecordings(t), func(c *keeper.Config) { c.SweepEvery(20 * time.Millisecond) })
	id, secret := r.make(wire.NewToken{Principal: "operator/bob", Role: "operator"})
	c, events := r.sit(secret), r.stream("GET", "/v1/events", secret, "")
	require.NoError(t, r.cfg.Store.RevokeToken(t.Context(), id))
	c.ended("the token was revoked")
	assert.Contains(t, rest(t, events), "the token was revoked")
}

func TestWhoeverRevokesTheirOwnTokenIsAnswered(t *testing.T) {
	r := startTCP(t)
	id, secret := r.make(wire.NewToken{Principal: "operator/bob", Role: "admin"})
	status, p := r.over("DELETE", "/v1/tokens/"+id, secret, "")
	assert.Equal(t, http.StatusNoContent, status, p.Detail)
	status, _ = r.over("GET", "/healthz", secret, "")
	assert.Equal(t, http.StatusUnauthorized, status)
}

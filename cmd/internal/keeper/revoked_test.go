package keeper_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// asks sends a request over TCP that is answered with out.
func asks(r *keepertest.Remote, token, path string, in, out any) int {
	r.T.Helper()
	body, err := json.Marshal(in)
	require.NoError(r.T, err)
	req, err := http.NewRequestWithContext(r.T.Context(), "POST", r.Url+path, strings.NewReader(string(body)))
	require.NoError(r.T, err)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := r.HTTP.Do(req)
	require.NoError(r.T, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(r.T, err)
	require.NoError(r.T, json.Unmarshal(text, out), "%s", text)
	return resp.StatusCode
}

// What was requested with a token waits for nobody once the token is revoked, and an approval of it that comes all the same does
// nothing. What the same agent has requested with another token is not touched.
func TestWhatARevokedTokenHasRequestedIsNotApproved(t *testing.T) {
	r := keepertest.StartTCP(t)
	box, dir := r.Box("there")
	var stolen, good wire.Token
	for _, tok := range []*wire.Token{&stolen, &good} {
		status, p := r.API("", "POST", "/v1/tokens", wire.NewToken{Principal: "agent/claude", Role: "agent"}, tok)
		require.Equal(t, http.StatusCreated, status, p.Detail)
	}
	var theirs, ours wire.Command
	require.Equal(t, http.StatusAccepted, asks(r, stolen.Secret, keepertest.CommandsPath, wire.NewCommand{Sandbox: box.ID, Command: "echo x >theirs"}, &theirs))
	require.Equal(t, http.StatusAccepted, asks(r, good.Secret, keepertest.CommandsPath, wire.NewCommand{Sandbox: box.ID, Command: "echo x >ours"}, &ours))
	var s wire.Session
	require.Equal(t, http.StatusCreated, asks(r, stolen.Secret, "/v1/sessions", wire.Open{Host: "there"}, &s))
	var res wire.Result
	soon := 0.05
	require.Equal(t, http.StatusAccepted, asks(r, stolen.Secret, "/v1/sessions/"+s.ID+"/execs", wire.Run{Command: "echo x >" + dir + "/exec", WaitS: &soon}, &res))
	require.Equal(t, "awaiting_approval", res.State)
	var list wire.Approvals
	r.API("", "GET", "/v1/approvals", nil, &list)
	require.Len(t, list.Items, 3)

	status, p := r.API("", "DELETE", "/v1/tokens/"+stolen.ID, nil, nil)
	require.Equal(t, http.StatusNoContent, status, p.Detail)
	require.Eventually(t, func() bool {
		r.API("", "GET", "/v1/approvals", nil, &list)
		return len(list.Items) == 1
	}, 10*time.Second, 10*time.Millisecond)
	assert.Equal(t, ours.ID, list.Items[0].Exec)
	status, p = r.API("", "POST", keepertest.CommandsPath+"/"+theirs.ID+"/approve", nil, nil)
	assert.Equal(t, http.StatusConflict, status, p.Detail)
	r.API("", "GET", keepertest.CommandsPath+"/"+theirs.ID, nil, &theirs)
	assert.Equal(t, "rejected", theirs.Status)
	assert.Equal(t, "the token that it was requested with was revoked", theirs.Reason)
	status, p = r.API("", "POST", keepertest.CommandsPath+"/"+ours.ID+"/approve", nil, nil)
	assert.Equal(t, http.StatusOK, status, p.Detail)
	for name, there := range map[string]bool{"theirs": false, "exec": false, "ours": true} {
		_, err := os.Stat(filepath.Join(dir, name))
		assert.Equal(t, there, err == nil, name)
	}
	require.Eventually(t, func() bool {
		for e, err := range audit.All(r.Cfg.AuditDir) {
			require.NoError(t, err)
			if e.Kind == audit.ApprovalResult && e.ID == theirs.ID {
				return assert.Equal(t, "denied", e.Status) && assert.Contains(t, e.Error.Message, "revoked")
			}
		}
		return false
	}, 10*time.Second, 20*time.Millisecond, "the audit log says what became of it")
}

// bearer sends a token with each request.
type bearer struct {
	http.RoundTripper
	token string
}

func (b *bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.RoundTripper.RoundTrip(r)
}

// The same holds for what an agent requests with the tools of MCP.
func TestWhatARevokedTokenHasRequestedOverMCPIsNotApproved(t *testing.T) {
	r := keepertest.StartTCP(t)
	_, dir := r.Box("there")
	var tok wire.Token
	status, p := r.API("", "POST", "/v1/tokens", wire.NewToken{Principal: "agent/claude", Role: "agent"}, &tok)
	require.Equal(t, http.StatusCreated, status, p.Detail)
	sent := &bearer{r.HTTP.Transport, tok.Secret}
	s, err := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "1"}, nil).Connect(t.Context(),
		&mcp.StreamableClientTransport{Endpoint: r.Url + "/mcp", HTTPClient: &http.Client{Transport: sent}, DisableStandaloneSSE: true}, nil)
	require.NoError(t, err)
	defer s.Close()
	for _, tool := range []mcp.CallToolParams{
		{Name: "session_open", Arguments: map[string]any{"host": "there", "name": "work"}},
		{Name: "session_exec", Arguments: map[string]any{"session_id": "work", "command": "echo x >" + dir + "/made", "wait_s": 0.05}},
	} {
		out, err := s.CallTool(t.Context(), &tool)
		require.NoError(t, err)
		require.False(t, out.IsError, "%v", out.StructuredContent)
	}
	var list wire.Approvals
	r.API("", "GET", "/v1/approvals", nil, &list)
	require.Len(t, list.Items, 1)
	status, p = r.API("", "DELETE", "/v1/tokens/"+tok.ID, nil, nil)
	require.Equal(t, http.StatusNoContent, status, p.Detail)
	require.Eventually(t, func() bool {
		r.API("", "GET", "/v1/approvals", nil, &list)
		return len(list.Items) == 0
	}, 5*time.Second, 10*time.Millisecond)
	assert.NoFileExists(t, filepath.Join(dir, "made"))
	sent.token = r.Token("agent/claude", "agent") // to take leave with
}

// A token that has expired approves nothing either.
func TestWhatAnExpiredTokenHasRequestedIsNotApproved(t *testing.T) {
	r := keepertest.StartTCP(t, func(c *keeper.Config) { c.SweepEvery(time.Hour) }) // which ends it
	box, dir := r.Box("there")
	var tok wire.Token
	status, p := r.API("", "POST", "/v1/tokens", wire.NewToken{Principal: "agent/claude", Role: "agent", TTLS: 6}, &tok)
	require.Equal(t, http.StatusCreated, status, p.Detail)
	var c wire.Command
	require.Equal(t, http.StatusAccepted, asks(r, tok.Secret, keepertest.CommandsPath, wire.NewCommand{Sandbox: box.ID, Command: "echo x >late"}, &c))
	require.Eventually(t, func() bool {
		status, _ := r.Over("GET", "/healthz", tok.Secret, "")
		return status == http.StatusUnauthorized
	}, 30*time.Second, 50*time.Millisecond)
	status, p = r.API("", "POST", keepertest.CommandsPath+"/"+c.ID+"/approve", nil, nil)
	assert.Equal(t, http.StatusForbidden, status)
	assert.Contains(t, p.Detail, "has expired")
	assert.NoFileExists(t, filepath.Join(dir, "late"))
}

// What was requested with a token waits for an answer as long as the token is good, not until the request itself expires.
func TestWhatAnExpiredTokenHasRequestedEnds(t *testing.T) {
	r := keepertest.StartTCP(t, func(c *keeper.Config) { c.SweepEvery(50 * time.Millisecond) })
	box, dir := r.Box("there")
	var short, good wire.Token
	for tok, ttl := range map[*wire.Token]float64{&short: 12, &good: 0} {
		status, p := r.API("", "POST", "/v1/tokens", wire.NewToken{Principal: "agent/claude", Role: "agent", TTLS: ttl}, tok)
		require.Equal(t, http.StatusCreated, status, p.Detail)
	}
	var theirs, ours wire.Command
	require.Equal(t, http.StatusAccepted, asks(r, short.Secret, keepertest.CommandsPath, wire.NewCommand{Sandbox: box.ID, Command: "echo x >theirs"}, &theirs))
	require.Equal(t, http.StatusAccepted, asks(r, good.Secret, keepertest.CommandsPath, wire.NewCommand{Sandbox: box.ID, Command: "echo x >ours"}, &ours))
	var s wire.Session
	require.Equal(t, http.StatusCreated, asks(r, short.Secret, "/v1/sessions", wire.Open{Host: "there"}, &s))
	var res wire.Result
	soon := 0.05
	require.Equal(t, http.StatusAccepted, asks(r, short.Secret, "/v1/sessions/"+s.ID+"/execs", wire.Run{Command: "echo x >" + dir + "/exec", WaitS: &soon}, &res))
	require.Equal(t, "awaiting_approval", res.State)
	var list wire.Approvals
	r.API("", "GET", "/v1/approvals", nil, &list)
	require.Len(t, list.Items, 3)
	require.Eventually(t, func() bool {
		r.API("", "GET", "/v1/approvals", nil, &list)
		return len(list.Items) == 1
	}, 60*time.Second, 20*time.Millisecond)
	assert.Equal(t, ours.ID, list.Items[0].Exec)
	r.API("", "GET", keepertest.CommandsPath+"/"+theirs.ID, nil, &theirs)
	assert.Equal(t, []string{"rejected", "denied", "the token that it was requested with has expired"}, []string{theirs.Status, theirs.Outcome, theirs.Reason})
	require.Eventually(t, func() bool {
		for e, err := range audit.All(r.Cfg.AuditDir) {
			require.NoError(t, err)
			if e.Kind == audit.ApprovalResult && e.ID == theirs.ID {
				return assert.Equal(t, "denied", e.Status) && assert.Contains(t, e.Error.Message, "has expired")
			}
		}
		return false
	}, 10*time.Second, 20*time.Millisecond, "the audit log says what became of it")
}

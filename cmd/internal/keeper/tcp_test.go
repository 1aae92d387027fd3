package keeper_test

import (
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/listen"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

func TestOverTCPATokenIsNeededForEverything(t *testing.T) {
	r := keepertest.StartTCP(t)
	for _, token := range []string{"", "x", "fairlead_x", strings.Repeat("x", 5000)} {
		for _, path := range []string{"/healthz", "/openapi.json", "/metrics", "/v1/sessions", "/nothing"} {
			status, _ := r.Over("GET", path, token, "")
			assert.Equal(t, http.StatusUnauthorized, status, path)
		}
	}
	good := r.Token("operator/bob", "viewer")
	for scheme, want := range map[string]int{"Bearer": 200, "bearer": 200, "BEARER": 200, "Basic": 401, "": 401, "Bearer Bearer": 401} {
		status, _ := r.Over("GET", "/healthz", "", "", "Authorization", scheme+" "+good)
		assert.Equal(t, want, status, "the scheme %q", scheme)
	}
	status, _ := r.Over("GET", "/healthz", good, "")
	assert.Equal(t, http.StatusOK, status)
	for _, h := range [][]string{{"Host", "evil.example"}, {"Host", "localhost"}, {"Origin", "https://evil.example"}, {wire.Principal, "agent/x"}, {wire.Inventory, "/x"}, {wire.AuthSock, "/x"}, {wire.Environment, "x"}} {
		status, _ := r.Over("GET", "/v1/sessions", good, "", h...)
		assert.Equal(t, http.StatusForbidden, status, "%v", h)
	}
	status, _ = r.Over("GET", "/v1/sessions", good, "", "Host", "keeper.test")
	assert.Equal(t, http.StatusOK, status)
	_, p := r.Over("GET", "/v1/sessions", good, "", "Host", "evil.example:8443")
	assert.Contains(t, p.Detail, "--name evil.example", "it says what to do about a name")

	var list wire.Tokens
	r.API("", "GET", "/v1/tokens", nil, &list)
	require.Len(t, list.Items, 1)
	assert.Empty(t, list.Items[0].Secret, "it is told once")
	status, _ = r.API("", "DELETE", "/v1/tokens/"+list.Items[0].ID, nil, nil)
	assert.Equal(t, http.StatusNoContent, status)
	status, _ = r.Over("GET", "/healthz", good, "")
	assert.Equal(t, http.StatusUnauthorized, status, "a revoked one is none")
}

// What only the keeper's command line names is noted where other processes find it, and forgotten by the next keeper.
func TestTheKeyOfAKeeperIsNotedInItsClaim(t *testing.T) {
	r := keepertest.StartTCP(t)
	text, err := os.ReadFile(r.Places.Claim())
	require.NoError(t, err)
	assert.Equal(t, `["`+r.Cfg.TCP.KeyFile+`"]`, string(text))
	require.NoError(t, r.StopServing())
	r.Cfg.TCP = listen.TCP{}
	r.Serve()
	text, err = os.ReadFile(r.Places.Claim())
	require.NoError(t, err)
	assert.Equal(t, "[]", string(text))
}

func TestNeverOnTCPWithoutTLSOrTokens(t *testing.T) {
	w := keepertest.Start(t)
	require.NoError(t, w.StopServing())
	cfg := w.Cfg
	cfg.TCP = listen.TCP{Addr: "127.0.0.1:0"}
	assert.ErrorContains(t, keeper.Serve(t.Context(), cfg, w.Places, nil), "without TLS")
	cfg.TCP.CertFile, cfg.TCP.KeyFile, cfg.Store = "x", "x", nil
	assert.ErrorContains(t, keeper.Serve(t.Context(), cfg, w.Places, nil), "without tokens")
}

func TestTokensAreForOnePrincipalAndOneRole(t *testing.T) {
	r := keepertest.StartTCP(t)
	for name, in := range map[string]wire.NewToken{
		"an operator's agent":     {Principal: "operator/bob", Role: "agent"},
		"an agent that operates":  {Principal: "agent/a", Role: "operator"},
		"an agent that approves":  {Principal: "agent/a", Role: "approver"},
		"no such role":            {Principal: "operator/bob", Role: "owner"},
		"nobody":                  {Principal: "", Role: "viewer"},
		"a name with a slash":     {Principal: "operator/bob/x", Role: "viewer"},
		"the asker as its judge":  {Principal: "operator/ada", Role: "approver"},
		"a role of another shape": {Principal: "program/x", Role: "operator"},
	} {
		status, _ := r.API("", "POST", "/v1/tokens", in, nil)
		assert.GreaterOrEqual(t, status, 400, name)
	}
	status, _ := r.API("agent/a", "POST", "/v1/tokens", wire.NewToken{Principal: "agent/a", Role: "agent"}, nil)
	assert.Equal(t, http.StatusForbidden, status)
}

// A time that was worked out as zero would give a token without end.
func TestATokenIsValidAsLongAsItSays(t *testing.T) {
	w := keepertest.Start(t)
	for ttl, want := range map[string]int{`,"ttl_s":0`: 422, `,"ttl_s":-1`: 422, `,"ttl_s":1e300`: 422, `,"ttl_s":315360001`: 422, `,"ttl_s":315360000`: 201, `,"ttl_s":0.5`: 201, "": 201} {
		status, p, text := w.Send("POST", "/v1/tokens", `{"principal":"agent/x","role":"agent"`+ttl+`}`)
		assert.Equal(t, want, status, "%s %s", ttl, p.Detail)
		if status == http.StatusCreated {
			assert.Equal(t, ttl != "", strings.Contains(text, `"expires_at"`), text)
		}
	}
}

func TestEveryRouteIsForTheRolesThatNeedIt(t *testing.T) {
	r := keepertest.StartTCP(t)
	tokens := map[string]string{"agent": r.Token("agent/a", "agent")}
	for _, role := range []string{"viewer", "operator", "approver", "admin"} {
		tokens[role] = r.Token("operator/bob", role)
	}
	_, _, text := r.Send("GET", "/openapi.json", "")
	var doc struct {
		Paths map[string]map[string]any
	}
	require.NoError(t, json.Unmarshal([]byte(text), &doc))
	routes := []string{"GET /metrics"}
	for path, methods := range doc.Paths {
		for method := range methods {
			routes = append(routes, strings.ToUpper(method)+" "+path)
		}
	}
	require.Len(t, routes, len(keepertest.Rights), "the table tells of every route there is")
	for _, route := range routes {
		may, known := keepertest.Rights[route]
		require.True(t, known, route)
		method, path, _ := strings.Cut(route, " ")
		for role, token := range tokens {
			body := ""
			if method == "POST" || method == "PATCH" {
				body = "{}"
			}
			status, p := r.Over(method, strings.ReplaceAll(path, "{id}", "x"), token, body)
			if slices.Contains(may, role) {
				assert.NotEqual(t, http.StatusForbidden, status, "%s as %s: %s", route, role, p.Detail)
				assert.NotEqual(t, http.StatusUnauthorized, status, "%s as %s: %s", route, role, p.Detail)
			} else {
				assert.Equal(t, http.StatusForbidden, status, "%s as %s", route, role)
				assert.Equal(t, "forbidden", p.Code)
			}
		}
		for _, secret := range []string{"", "fairlead_nobody"} {
			status, p := r.Over(method, strings.ReplaceAll(path, "{id}", "x"), secret, "")
			assert.Equal(t, http.StatusUnauthorized, status, "%s as nobody", route)
			assert.Equal(t, "auth", p.Code)
		}
		if !slices.Contains(may, "agent") {
			status, p := r.API("agent/a", method, strings.ReplaceAll(path, "{id}", "x"), nil, nil)
			assert.Equal(t, http.StatusForbidden, status, "%s as an agent on the socket", route)
			assert.Equal(t, "forbidden", p.Code)
		}
	}
	for _, role := range []string{"viewer", "operator", "approver", "admin", "agent"} {
		runs := slices.Contains(keepertest.Rights["POST /v1/sessions/{id}/execs"], role)
		approves := slices.Contains(keepertest.Rights["POST /v1/approvals/{id}/approve"], role)
		assert.False(t, runs && approves, "%s both runs and approves", role)
	}
}

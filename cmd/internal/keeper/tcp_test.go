package keeper_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/listen"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// remote is a keeper that listens on loopback too.
type remote struct {
	*world
	url    string
	client *http.Client
}

func startTCP(t *testing.T, change ...func(*keeper.Config)) *remote {
	t.Helper()
	dir := t.TempDir()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	cert := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"keeper.test"}, BasicConstraintsValid: true, IsCA: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, cert, cert, &key.PublicKey, key)
	require.NoError(t, err)
	pk, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	certPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	require.NoError(t, os.WriteFile(certFile, certPEM, 0o600))
	require.NoError(t, os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pk}), 0o600))
	r := &remote{}
	r.world = start(t, func(c *keeper.Config) {
		c.TCP = listen.TCP{Addr: "127.0.0.1:0", CertFile: certFile, KeyFile: keyFile, Names: []string{"keeper.test"}}
		c.OnListening(func(a net.Addr) { r.url = "https://" + a.String() })
		for _, f := range change {
			f(c)
		}
	})
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(certPEM))
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	t.Cleanup(tr.CloseIdleConnections)
	r.client = &http.Client{Transport: tr}
	return r
}

// token makes one, on the socket.
func (r *remote) token(principal, role string) string {
	r.t.Helper()
	var tok wire.Token
	status, p := r.api("", "POST", "/v1/tokens", wire.NewToken{Principal: principal, Role: role}, &tok)
	require.Equal(r.t, http.StatusCreated, status, p.Detail)
	require.NotEmpty(r.t, tok.Secret)
	return tok.Secret
}

// over sends a request over TCP.
func (r *remote) over(method, path, token, body string, headers ...string) (int, wire.Problem) {
	r.t.Helper()
	ctx, cancel := context.WithCancel(r.t.Context())
	defer cancel() // a stream has no end
	req, err := http.NewRequestWithContext(ctx, method, r.url+path, strings.NewReader(body))
	require.NoError(r.t, err)
	req.Header.Set("Content-Type", "application/json")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := r.client.Do(req)
	require.NoError(r.t, err)
	defer resp.Body.Close()
	var p wire.Problem
	if resp.StatusCode >= 400 {
		text, err := io.ReadAll(resp.Body)
		require.NoError(r.t, err)
		require.NoError(r.t, json.Unmarshal(text, &p), "%s", text)
	}
	return resp.StatusCode, p
}

func TestOverTCPATokenIsNeededForEverything(t *testing.T) {
	r := startTCP(t)
	for _, token := range []string{"", "x", "fairlead_x", strings.Repeat("x", 5000)} {
		for _, path := range []string{"/healthz", "/openapi.json", "/metrics", "/v1/sessions", "/nothing"} {
			status, _ := r.over("GET", path, token, "")
			assert.Equal(t, http.StatusUnauthorized, status, path)
		}
	}
	good := r.token("operator/bob", "viewer")
	for scheme, want := range map[string]int{"Bearer": 200, "bearer": 200, "BEARER": 200, "Basic": 401, "": 401, "Bearer Bearer": 401} {
		status, _ := r.over("GET", "/healthz", "", "", "Authorization", scheme+" "+good)
		assert.Equal(t, want, status, "the scheme %q", scheme)
	}
	status, _ := r.over("GET", "/healthz", good, "")
	assert.Equal(t, http.StatusOK, status)
	for _, h := range [][]string{{"Host", "evil.example"}, {"Host", "localhost"}, {"Origin", "https://evil.example"}, {wire.Principal, "agent/x"}, {wire.Inventory, "/x"}, {wire.AuthSock, "/x"}, {wire.Environment, "x"}} {
		status, _ := r.over("GET", "/v1/sessions", good, "", h...)
		assert.Equal(t, http.StatusForbidden, status, "%v", h)
	}
	status, _ = r.over("GET", "/v1/sessions", good, "", "Host", "keeper.test")
	assert.Equal(t, http.StatusOK, status)

	var list wire.Tokens
	r.api("", "GET", "/v1/tokens", nil, &list)
	require.Len(t, list.Items, 1)
	assert.Empty(t, list.Items[0].Secret, "it is told once")
	status, _ = r.api("", "DELETE", "/v1/tokens/"+list.Items[0].ID, nil, nil)
	assert.Equal(t, http.StatusNoContent, status)
	status, _ = r.over("GET", "/healthz", good, "")
	assert.Equal(t, http.StatusUnauthorized, status, "a revoked one is none")
}

// What only the keeper's command line names is noted where other processes find it, and forgotten by the next keeper.
func TestTheKeyOfAKeeperIsNotedInItsClaim(t *testing.T) {
	r := startTCP(t)
	text, err := os.ReadFile(r.places.Claim())
	require.NoError(t, err)
	assert.Equal(t, `["`+r.cfg.TCP.KeyFile+`"]`, string(text))
	require.NoError(t, r.stop())
	r.cfg.TCP = listen.TCP{}
	r.serve()
	text, err = os.ReadFile(r.places.Claim())
	require.NoError(t, err)
	assert.Equal(t, "[]", string(text))
}

func TestNeverOnTCPWithoutTLSOrTokens(t *testing.T) {
	w := start(t)
	require.NoError(t, w.stop())
	cfg := w.cfg
	cfg.TCP = listen.TCP{Addr: "127.0.0.1:0"}
	assert.ErrorContains(t, keeper.Serve(t.Context(), cfg, w.places, nil), "without TLS")
	cfg.TCP.CertFile, cfg.TCP.KeyFile, cfg.Store = "x", "x", nil
	assert.ErrorContains(t, keeper.Serve(t.Context(), cfg, w.places, nil), "without tokens")
}

func TestTokensAreForOnePrincipalAndOneRole(t *testing.T) {
	r := startTCP(t)
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
		status, _ := r.api("", "POST", "/v1/tokens", in, nil)
		assert.GreaterOrEqual(t, status, 400, name)
	}
	status, _ := r.api("agent/a", "POST", "/v1/tokens", wire.NewToken{Principal: "agent/a", Role: "agent"}, nil)
	assert.Equal(t, http.StatusForbidden, status)
}

// A time that was worked out as zero would give a token without end.
func TestATokenIsValidAsLongAsItSays(t *testing.T) {
	w := start(t)
	for ttl, want := range map[string]int{`,"ttl_s":0`: 422, `,"ttl_s":-1`: 422, `,"ttl_s":1e300`: 422, `,"ttl_s":315360001`: 422, `,"ttl_s":315360000`: 201, `,"ttl_s":0.5`: 201, "": 201} {
		status, p, text := w.send("POST", "/v1/tokens", `{"principal":"agent/x","role":"agent"`+ttl+`}`)
		assert.Equal(t, want, status, "%s %s", ttl, p.Detail)
		if status == http.StatusCreated {
			assert.Equal(t, ttl != "", strings.Contains(text, `"expires_at"`), text)
		}
	}
}

// rights is who may use which route. A route that is not here fails the test.
var rights = map[string][]string{
	"GET /healthz":                               {"viewer", "operator", "approver", "admin", "agent"},
	"POST /v1/keeper/stop":                       {},
	"POST /v1/keeper/leave":                      {},
	"POST /v1/web":                               {},
	"GET /v1/hosts":                              {"viewer", "operator", "approver", "admin", "agent"},
	"GET /v1/sessions":                           {"viewer", "operator", "approver", "admin", "agent"},
	"POST /v1/sessions":                          {"operator", "agent"},
	"GET /v1/sessions/{id}":                      {"viewer", "operator", "approver", "admin", "agent"},
	"DELETE /v1/sessions/{id}":                   {"operator", "agent"},
	"POST /v1/sessions/{id}/reset":               {"operator", "agent"},
	"POST /v1/sessions/{id}/execs":               {"operator", "agent"},
	"GET /v1/execs/{id}":                         {"viewer", "operator", "approver", "admin", "agent"},
	"POST /v1/execs/{id}/stop":                   {"operator", "agent"},
	"POST /v1/execs/{id}/input":                  {"operator", "agent"},
	"GET /v1/execs/{id}/output":                  {"viewer", "operator", "approver", "admin", "agent"},
	"GET /v1/execs/{id}/stream":                  {"viewer", "operator", "approver", "admin", "agent"},
	"POST /v1/runs":                              {"operator", "agent"},
	"GET /v1/runs":                               {"viewer", "operator", "approver", "admin", "agent"},
	"GET /v1/runs/{id}":                          {"viewer", "operator", "approver", "admin", "agent"},
	"POST /v1/runs/{id}/confirm":                 {"operator", "agent"},
	"POST /v1/runs/{id}/stdin":                   {"operator", "agent"},
	"GET /v1/runs/{id}/files":                    {"operator", "agent"},
	"POST /v1/runs/{id}/stop":                    {"operator", "agent"},
	"GET /v1/events":                             {"viewer", "operator", "approver", "admin", "agent"},
	"GET /v1/approvals":                          {"viewer", "operator", "approver", "admin"},
	"GET /v1/approvals/{id}":                     {"approver"},
	"POST /v1/approvals/{id}/approve":            {"approver"},
	"POST /v1/approvals/{id}/reject":             {"approver"},
	"GET /v1/session-approvals":                  {"viewer", "operator", "approver", "admin"},
	"DELETE /v1/session-approvals/{id}":          {"approver"},
	"GET /v1/audit":                              {"viewer", "operator", "approver", "admin"},
	"GET /v1/audit/verify":                       {"viewer", "operator", "approver", "admin"},
	"GET /v1/tokens":                             {"admin"},
	"POST /v1/tokens":                            {"admin"},
	"DELETE /v1/tokens/{id}":                     {"admin"},
	"GET " + sandboxesPath:                       {"viewer", "operator", "approver", "admin", "agent"},
	"POST " + sandboxesPath:                      {"operator", "admin"},
	"GET " + sandboxesPath + "/{id}":             {"viewer", "operator", "approver", "admin", "agent"},
	"GET " + sandboxesPath + "/{id}/enforcement": {"operator", "admin"},
	"PATCH " + sandboxesPath + "/{id}":           {"operator", "admin"},
	"DELETE " + sandboxesPath + "/{id}":          {"operator", "admin"},
	"GET " + commandsPath:                        {"viewer", "operator", "approver", "admin", "agent"},
	"POST " + commandsPath:                       {"operator", "agent"},
	"GET " + commandsPath + "/{id}":              {"viewer", "operator", "approver", "admin", "agent"},
	"POST " + commandsPath + "/{id}/approve":     {"approver"},
	"POST " + commandsPath + "/{id}/reject":      {"approver"},
	"POST " + commandsPath + "/{id}/finalize":    {"operator", "agent"},
	"GET /v1/files":                              {"operator", "agent"},
	"PUT /v1/files":                              {"operator", "agent"},
	"GET /v1/files/list":                         {"operator", "agent"},
	"POST /v1/files/edit":                        {"operator", "agent"},
	"POST /v1/jobs":                              {"operator", "agent"},
	"GET /v1/jobs":                               {"operator", "agent"},
	"GET /v1/jobs/{id}":                          {"operator", "agent"},
	"GET /v1/jobs/{id}/output":                   {"operator", "agent"},
	"POST /v1/jobs/{id}/stop":                    {"operator", "agent"},
	"DELETE /v1/jobs/{id}":                       {"operator", "agent"},
	"POST /v1/forwards":                          {"operator", "agent"},
	"GET /v1/forwards":                           {"viewer", "operator", "approver", "admin", "agent"},
	"DELETE /v1/forwards/{id}":                   {"operator", "agent"},
	"GET /v1/questions":                          {"operator"},
	"POST /v1/questions/{id}":                    {"operator"},
	"GET /v1/terminals":                          {"operator"},
	"GET /v1/watch":                              {"viewer", "operator", "approver", "admin"},
	"GET /v1/watch/{id}/stream":                  {"viewer", "operator", "approver", "admin"},
	"GET /v1/recordings":                         {"viewer", "operator", "approver", "admin"},
	"GET /v1/recordings/{id}":                    {"viewer", "operator", "approver", "admin"},
	"GET /v1/audit/search":                       {"viewer", "operator", "approver", "admin"},
	"GET /metrics":                               {"viewer", "operator", "approver", "admin"},
}

func TestEveryRouteIsForTheRolesThatNeedIt(t *testing.T) {
	r := startTCP(t)
	tokens := map[string]string{"agent": r.token("agent/a", "agent")}
	for _, role := range []string{"viewer", "operator", "approver", "admin"} {
		tokens[role] = r.token("operator/bob", role)
	}
	_, _, text := r.send("GET", "/openapi.json", "")
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
	require.Len(t, routes, len(rights), "the table tells of every route there is")
	for _, route := range routes {
		may, known := rights[route]
		require.True(t, known, route)
		method, path, _ := strings.Cut(route, " ")
		for role, token := range tokens {
			body := ""
			if method == "POST" || method == "PATCH" {
				body = "{}"
			}
			status, p := r.over(method, strings.ReplaceAll(path, "{id}", "x"), token, body)
			if slices.Contains(may, role) {
				assert.NotEqual(t, http.StatusForbidden, status, "%s as %s: %s", route, role, p.Detail)
				assert.NotEqual(t, http.StatusUnauthorized, status, "%s as %s: %s", route, role, p.Detail)
			} else {
				assert.Equal(t, http.StatusForbidden, status, "%s as %s", route, role)
				assert.Equal(t, "forbidden", p.Code)
			}
		}
		for _, secret := range []string{"", "fairlead_nobody"} {
			status, p := r.over(method, strings.ReplaceAll(path, "{id}", "x"), secret, "")
			assert.Equal(t, http.StatusUnauthorized, status, "%s as nobody", route)
			assert.Equal(t, "auth", p.Code)
		}
		if !slices.Contains(may, "agent") {
			status, p := r.api("agent/a", method, strings.ReplaceAll(path, "{id}", "x"), nil, nil)
			assert.Equal(t, http.StatusForbidden, status, "%s as an agent on the socket", route)
			assert.Equal(t, "forbidden", p.Code)
		}
	}
	for _, role := range []string{"viewer", "operator", "approver", "admin", "agent"} {
		runs := slices.Contains(rights["POST /v1/sessions/{id}/execs"], role)
		approves := slices.Contains(rights["POST /v1/approvals/{id}/approve"], role)
		assert.False(t, runs && approves, "%s both runs and approves", role)
	}
}

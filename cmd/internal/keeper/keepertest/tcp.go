package keepertest

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
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/listen"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// Remote is a keeper that listens on loopback too.
type Remote struct {
	*World
	Url  string
	HTTP *http.Client
}

// StartTCP runs a keeper for the time of the test that listens on loopback with a certificate of its own.
func StartTCP(t *testing.T, change ...func(*keeper.Config)) *Remote {
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
	r := &Remote{}
	r.World = Start(t, func(c *keeper.Config) {
		c.TCP = listen.TCP{Addr: "127.0.0.1:0", CertFile: certFile, KeyFile: keyFile, Names: []string{"keeper.test"}}
		c.Listening = func(a net.Addr) { r.Url = "https://" + a.String() }
		for _, f := range change {
			f(c)
		}
	})
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(certPEM))
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
	t.Cleanup(tr.CloseIdleConnections)
	r.HTTP = &http.Client{Transport: tr}
	return r
}

// Token makes one, on the socket.
func (r *Remote) Token(principal, role string) string {
	r.T.Helper()
	var tok wire.Token
	status, p := r.API("", "POST", "/v1/tokens", wire.NewToken{Principal: principal, Role: role}, &tok)
	require.Equal(r.T, http.StatusCreated, status, p.Detail)
	require.NotEmpty(r.T, tok.Secret)
	return tok.Secret
}

// Over sends a request over TCP.
func (r *Remote) Over(method, path, token, body string, headers ...string) (int, wire.Problem) {
	r.T.Helper()
	ctx, cancel := context.WithCancel(r.T.Context())
	defer cancel() // a stream has no end
	req, err := http.NewRequestWithContext(ctx, method, r.Url+path, strings.NewReader(body))
	require.NoError(r.T, err)
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
	resp, err := r.HTTP.Do(req)
	require.NoError(r.T, err)
	defer resp.Body.Close()
	var p wire.Problem
	if resp.StatusCode >= 400 {
		text, err := io.ReadAll(resp.Body)
		require.NoError(r.T, err)
		require.NoError(r.T, json.Unmarshal(text, &p), "%s", text)
	}
	return resp.StatusCode, p
}

// Rights is who may use which route. A route that is not here fails the test.
var Rights = map[string][]string{
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
	"GET " + SandboxesPath:                       {"viewer", "operator", "approver", "admin", "agent"},
	"POST " + SandboxesPath:                      {"operator", "admin"},
	"GET " + SandboxesPath + "/{id}":             {"viewer", "operator", "approver", "admin", "agent"},
	"GET " + SandboxesPath + "/{id}/enforcement": {"operator", "admin"},
	"PATCH " + SandboxesPath + "/{id}":           {"operator", "admin"},
	"DELETE " + SandboxesPath + "/{id}":          {"operator", "admin"},
	"GET " + CommandsPath:                        {"viewer", "operator", "approver", "admin", "agent"},
	"POST " + CommandsPath:                       {"operator", "agent"},
	"GET " + CommandsPath + "/{id}":              {"viewer", "operator", "approver", "admin", "agent"},
	"POST " + CommandsPath + "/{id}/approve":     {"approver"},
	"POST " + CommandsPath + "/{id}/reject":      {"approver"},
	"POST " + CommandsPath + "/{id}/finalize":    {"operator", "agent"},
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

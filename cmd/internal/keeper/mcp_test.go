package keeper_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

func TestAnAgentOverHTTPHasItsPrincipalsSessions(t *testing.T) {
	w := keepertest.Start(t)
	hc := w.HTTP()
	s, err := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "1"}, nil).Connect(t.Context(),
		&mcp.StreamableClientTransport{Endpoint: "http://localhost/mcp", HTTPClient: hc, DisableStandaloneSSE: true}, nil)
	require.NoError(t, err)
	r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "session_open", Arguments: map[string]any{"host": "here", "name": "work"}})
	require.NoError(t, err)
	require.False(t, r.IsError)
	mine, err := w.As("agent/mcp").Sessions(t.Context())
	require.NoError(t, err)
	require.Len(t, mine, 1)
	assert.Equal(t, "work", mine[0].Name)
	require.NoError(t, s.Close())

	for name, change := range map[string]func(*http.Request){
		"another origin": func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") },
		"another host's name": func(r *http.Request) {
			r.Host = "evil.example"
			r.Header.Set("Origin", "https://evil.example")
		},
		"no agent's name": func(r *http.Request) { r.Header.Set(wire.Principal, "operator/eve") },
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://localhost/mcp", strings.NewReader("{}"))
		require.NoError(t, err)
		req.Header.Set("Content-Type", "application/json")
		change(req)
		res, err := hc.Do(req)
		require.NoError(t, err)
		res.Body.Close()
		assert.Equal(t, http.StatusForbidden, res.StatusCode, name)
	}
}

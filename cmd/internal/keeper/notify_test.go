package keeper_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/notify"
)

func TestAsksAndEndsArePushedWithoutSecrets(t *testing.T) {
	bodies := make(chan []byte, 100)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		bodies <- body
	}))
	t.Cleanup(s.Close)
	w := keepertest.Start(t, func(c *keeper.Config) {
		secret := filepath.Join(filepath.Dir(c.Inventory), "secret")
		require.NoError(t, os.WriteFile(secret, []byte("0123456789abcdef"), 0o600))
		c.Notify = []notify.Config{{Webhook: s.URL, SecretFile: secret, Events: []string{"asked", "approved", "done"}}}
	})
	b, _ := w.Box("there")
	_, c := w.Post(wire.NewCommand{Sandbox: b.ID, Command: "touch made; echo password=correcthorsebattery", Reason: "because"})
	require.Equal(t, "pending", c.Status)
	status, p := w.API("", "POST", keepertest.CommandsPath+"/"+c.ID+"/approve", nil, nil)
	require.Equal(t, http.StatusOK, status, p.Detail)
	seen := map[string]notify.Event{}
	for seen["asked"].ID == "" || seen["approved"].ID == "" || seen["done"].ID == "" {
		body := <-bodies
		assert.NotContains(t, string(body), "correcthorse")
		var e notify.Event
		require.NoError(t, json.Unmarshal(body, &e))
		assert.Empty(t, seen[e.Kind].ID, "one of each: what the keeper runs for itself is nobody's business")
		seen[e.Kind] = e
	}
	asked := seen["asked"]
	assert.Equal(t, "agent/claude", asked.Principal)
	assert.Equal(t, "there", asked.Host)
	assert.Equal(t, "prod", asked.Tier)
	assert.Equal(t, c.ID, asked.Exec)
	assert.Equal(t, "because", asked.Reason)
	assert.Contains(t, asked.Command, "touch made; echo password=«redacted:")
	assert.NotNil(t, asked.Expires)
	assert.Equal(t, asked.Approval, seen["approved"].Approval)
	assert.Equal(t, "ok", seen["done"].Status)
	assert.Equal(t, asked.Command, seen["done"].Command)
	for kind, e := range seen {
		assert.Equal(t, c.ID, e.CommandID, kind)
		assert.Equal(t, asked.Approval, e.Approval, kind)
	}
}

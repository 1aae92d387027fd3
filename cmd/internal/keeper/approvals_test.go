package keeper_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// read returns the text of an answer over TCP.
func read(r *keepertest.Remote, token, path string) string {
	r.T.Helper()
	req, err := http.NewRequestWithContext(r.T.Context(), "GET", r.Url+path, nil)
	require.NoError(r.T, err)
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := r.HTTP.Do(req)
	require.NoError(r.T, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(r.T, err)
	require.Equal(r.T, http.StatusOK, resp.StatusCode, "%s", text)
	return string(text)
}

func TestListsShowSecretsToApproversOnly(t *testing.T) {
	r := keepertest.StartTCP(t)
	agent := r.As("agent/claude")
	s, err := agent.Open(t.Context(), wire.Open{Host: "there"})
	require.NoError(t, err)
	secrets := []string{"S3cretPassw0rd", "abcdefghij0123456789"}
	command := "mysql -uroot -p" + secrets[0] + " -e 'select 1'; curl -H 'Authorization: Bearer " + secrets[1] + "' http://127.0.0.1:1/"
	ask := r.Asked(agent, s.ID, command)
	assert.Equal(t, command, ask.FirstLine, "the account itself approves")
	assert.Equal(t, len(command), ask.Bytes)
	contains(t, read(r, r.Token("operator/bob", "approver"), "/v1/approvals"), secrets, true)
	watchers := map[string]string{}
	for _, role := range []string{"viewer", "operator", "admin"} {
		watchers[role] = r.Token("operator/bob", role)
		text := read(r, watchers[role], "/v1/approvals")
		contains(t, text, secrets, false)
		assert.Contains(t, text, "mysql -uroot", role)
	}

	other, err := agent.Open(t.Context(), wire.Open{Host: "there", CWD: r.Dir})
	require.NoError(t, err)
	ask = r.Asked(agent, other.ID, "touch password="+secrets[0])
	status, p := r.ApproveFor(ask.ID, wire.ForSession{Prefix: "touch password=" + secrets[0]})
	require.Less(t, status, 300, p.Detail)
	text := read(r, watchers["viewer"], keepertest.SessionApprovals)
	contains(t, text, secrets[:1], false)
	assert.Contains(t, text, "commands that begin with: touch password=")
}

// contains checks whether a text has secrets, all or none of them.
func contains(t *testing.T, text string, secrets []string, all bool) {
	t.Helper()
	for _, secret := range secrets {
		assert.Equal(t, all, strings.Contains(text, secret), "%s in %s", secret, text)
	}
}

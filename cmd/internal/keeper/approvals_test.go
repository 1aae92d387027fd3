package keeper_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
)

// read returns the text of an answer over TCP.
func (r *remote) read(token, path string) string {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), "GET", r.url+path, nil)
	require.NoError(r.t, err)
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := r.client.Do(req)
	require.NoError(r.t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(r.t, err)
	require.Equal(r.t, http.StatusOK, resp.StatusCode, "%s", text)
	return string(text)
}

func TestListsShowSecretsToApproversOnly(t *testing.T) {
	r := startTCP(t)
	agent := r.As("agent/claude")
	s, err := agent.Open(t.Context(), wire.Open{Host: "there"})
	require.NoError(t, err)
	secrets := []string{"S3cretPassw0rd", "abcdefghij0123456789"}
	command := "mysql -uroot -p" + secrets[0] + " -e 'select 1'; curl -H 'Authorization: Bearer " + secrets[1] + "' http://127.0.0.1:1/"
	ask := r.asked(agent, s.ID, command)
	assert.Equal(t, command, ask.FirstLine, "the account itself approves")
	assert.Equal(t, len(command), ask.Bytes)
	contains(t, r.read(r.token("operator/bob", "approver"), "/v1/approvals"), secrets, true)
	watchers := map[string]string{}
	for _, role := range []string{"viewer", "operator", "admin"} {
		watchers[role] = r.token("operator/bob", role)
		text := r.read(watchers[role], "/v1/approvals")
		contains(t, text, secrets, false)
		assert.Contains(t, text, "mysql -uroot", role)
	}

	other, err := agent.Open(t.Context(), wire.Open{Host: "there", CWD: r.dir})
	require.NoError(t, err)
	ask = r.asked(agent, other.ID, "touch password="+secrets[0])
	status, p := r.approveFor(ask.ID, wire.ForSession{Prefix: "touch password=" + secrets[0]})
	require.Less(t, status, 300, p.Detail)
	text := r.read(watchers["viewer"], sessionApprovals)
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

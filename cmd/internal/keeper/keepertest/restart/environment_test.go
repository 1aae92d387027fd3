package restart_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/sshopt"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
)

// having is a client for calls to a host with these variables, and no others.
func (l *lender) having(host string, environ ...string) *client.Client {
	l.T.Helper()
	h := hosts.Host{Name: host, SSHConfig: filepath.Join(l.Dir, "config")}
	word, err := sshopt.EnvironmentFor([]hosts.Host{h}, nil, sshconfig.Loader{}, environ).Word()
	require.NoError(l.T, err)
	return l.With(word)
}

// configured writes lines before those about all hosts.
func (l *lender) configured(lines string) {
	l.T.Helper()
	path := filepath.Join(l.Dir, "config")
	rest, err := os.ReadFile(path)
	require.NoError(l.T, err)
	require.NoError(l.T, os.WriteFile(path, append([]byte(lines), rest...), 0o600))
}

func TestVariablesInSSHConfigAreTheCallersOfEachCall(t *testing.T) {
	l := startLending(t, "")
	key(l.World, "stranger")
	l.configured("Host prod1\n\tIdentitiesOnly yes\n\tIdentityFile ${FAIRLEAD_TEST_KEY}\nHost *\n\tIdentitiesOnly yes\n")
	text, err := os.ReadFile(filepath.Join(l.Dir, "config"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(l.Dir, "config"), fmt.Appendf(nil, "Host prod1\n\tUser one\n%s", text), 0o600))
	t.Setenv("FAIRLEAD_TEST_KEY", "/of/the/keeper")

	mine := l.having("prod1", "FAIRLEAD_TEST_KEY="+filepath.Join(l.Dir, "bot"), "TERM=xterm")
	assert.Equal(t, "one", l.whoami(mine, "prod1"))
	accepted := l.server.Accepted()
	assert.Equal(t, "one", l.whoami(l.having("prod1", "FAIRLEAD_TEST_KEY="+filepath.Join(l.Dir, "bot"), "TERM=vt100", "UNUSED=x"), "prod1"))
	assert.Equal(t, accepted, l.server.Accepted(), "what says the same shares the connection, whatever else there is")

	assert.Equal(t, "ada", l.whoami(l.having("prod2"), "prod2"), "where nothing is asked for, nothing is said")
	accepted = l.server.Accepted()
	assert.Equal(t, "ada", l.whoami(l.Client, "prod2"))
	assert.Equal(t, accepted, l.server.Accepted())

	_, err = l.having("prod1").Open(t.Context(), wire.Open{Host: "prod1"})
	assert.ErrorContains(t, err, "the environment variable FAIRLEAD_TEST_KEY is not set", "the keeper's does not do for it")
}

func TestProgramsOfSSHConfigGetTheCallersEnvironment(t *testing.T) {
	l := startLending(t, "")
	said := filepath.Join(l.Dir, "said")
	l.configured("Match host prod1 exec \"test x$SITE = xhome\"\n\tUser athome\nHost prod2\n\tProxyCommand echo p=$PROFILE,k=$FAIRLEAD_TEST_OWN >>" + said + "\n")
	t.Setenv("FAIRLEAD_TEST_OWN", "keepers")
	assert.Equal(t, "athome", l.whoami(l.having("prod1", "SITE=home"), "prod1"))
	assert.Equal(t, "ada", l.whoami(l.having("prod1", "SITE=away"), "prod1"))
	assert.Equal(t, "ada", l.whoami(l.Client, "prod1"))
	for _, profile := range []string{"a", "b"} {
		_, err := l.having("prod2", "PROFILE="+profile).Open(t.Context(), wire.Open{Host: "prod2"})
		assert.ErrorContains(t, err, "ProxyCommand")
	}
	text, err := os.ReadFile(said)
	require.NoError(t, err)
	assert.Equal(t, "p=a,k=\np=b,k=\n", string(text))
}

func TestOnlyTheAccountItselfBringsItsEnvironment(t *testing.T) {
	w := keepertest.Start(t)
	word, err := sshopt.Environment{All: true, Vars: []string{"PATH=/evil"}}.Word()
	require.NoError(t, err)
	_, err = w.With(word).Hosts(t.Context(), "")
	require.NoError(t, err)
	_, err = w.With(word).As("agent/a").Hosts(t.Context(), "")
	assert.ErrorContains(t, err, "is for the account itself, and the caller is agent/a")
	for _, path := range []string{"/agent/terminal/sandboxes", "/mcp"} {
		status, _, _ := w.Send("GET", path, "", wire.Environment, word)
		assert.Equal(t, http.StatusForbidden, status, path)
	}
	for _, bad := range []string{"x", "!!", "bm90anNvbg"} {
		status, p, _ := w.Send("GET", "/v1/hosts", "", wire.Environment, bad)
		assert.Equal(t, http.StatusBadRequest, status)
		assert.Equal(t, "invalid", p.Code)
	}
	resp, _ := w.Enter().Do("GET", "/v1/hosts", nil, wire.Environment, word)
	assert.Equal(t, http.StatusForbidden, resp.StatusCode, "not the page")
}

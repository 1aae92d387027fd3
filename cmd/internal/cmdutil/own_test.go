package cmdutil_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What a keeper's command line names is kept from agents by other processes too: the keeper has noted it in its claim.
func TestFilesThatAKeeperNotedAreFairleadsOwn(t *testing.T) {
	home := t.TempDir()
	state := filepath.Join(home, ".local", "state", "fairlead")
	require.NoError(t, os.MkdirAll(state, 0o700))
	for name, text := range map[string]string{
		"keeper-0011.lock": `["/srv/tls/key.pem","/run/agents.sock","relative"]`,
		"keeper-2233.lock": "",
		"keeper-4455.lock": `{"no":"list"}`,
		"other.lock":       `["/srv/other"]`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(state, name), []byte(text), 0o600))
	}
	require.NoError(t, os.Mkdir(filepath.Join(state, "keeper-6677.lock"), 0o700))
	own := factory(map[string]string{"HOME": home}).Own().Paths
	assert.Contains(t, own, "/srv/tls/key.pem")
	assert.Contains(t, own, "/run/agents.sock")
	assert.NotContains(t, own, "relative")
	assert.NotContains(t, own, "/srv/other")
	own = factory(map[string]string{"HOME": home, "XDG_STATE_HOME": t.TempDir()}).Own().Paths
	assert.Contains(t, own, "/srv/tls/key.pem", "whatever the environment says")
}

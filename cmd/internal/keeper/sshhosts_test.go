package keeper_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/keepertest"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/wire"
	"github.com/fairlead-ssh/fairlead/cmd/internal/sshhosts"
	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
)

// sshHome gives a keeper an ssh_config, and a usual place without an inventory.
func sshHome(t *testing.T, config string) (change func(*keeper.Config), usual string) {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, ".ssh"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".ssh", "config"), []byte(config), 0o600))
	usual = filepath.Join(dir, "inventory.yaml")
	return func(cfg *keeper.Config) {
		cfg.Usual, cfg.SSHHosts = usual, &sshhosts.Book{Loader: sshconfig.Loader{Home: dir, SystemDir: filepath.Join(dir, "etc")}}
	}, usual
}

func TestOperatorsReachHostsOfSSHConfigThroughTheKeeper(t *testing.T) {
	home, usual := sshHome(t, "Host web1 web2\n")
	w := keepertest.Start(t, home)
	c := client.New(client.Config{Socket: w.Places.Socket, Inventory: usual})
	defer c.Close()
	names := func(c *client.Client) (all []string, err error) {
		hs, err := c.Hosts(t.Context(), "")
		for _, h := range hs {
			all = append(all, h.Name)
		}
		return all, err
	}
	all, err := names(c)
	require.NoError(t, err, "nobody named an inventory, and there is none")
	assert.Equal(t, []string{"web1", "web2"}, all)
	agent := c.As("agent/a")
	_, err = names(agent)
	assert.ErrorContains(t, err, "there is no file")

	elsewhere := client.New(client.Config{Socket: w.Places.Socket, Inventory: usual + "x"})
	defer elsewhere.Close()
	_, err = names(elsewhere)
	assert.ErrorContains(t, err, "there is no file", "that place was named")

	all, err = names(w.Client)
	require.NoError(t, err)
	assert.NotContains(t, all, "web1", "with an inventory they are not listed")
	_, err = w.Open(t.Context(), wire.Open{Host: "web1"})
	if err != nil {
		assert.NotContains(t, err.Error(), "no host named", "and can be named")
	}
	_, err = w.As("agent/a").Open(t.Context(), wire.Open{Host: "web1"})
	assert.ErrorContains(t, err, "no host named web1", "by operators")

	require.NoError(t, os.WriteFile(usual, []byte(keepertest.Here), 0o600))
	all, err = names(c)
	require.NoError(t, err)
	assert.NotContains(t, all, "web1", "an inventory that has come counts")
}

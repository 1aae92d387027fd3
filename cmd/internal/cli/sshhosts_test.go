package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/sshhosts"
	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
)

// as runs the program in a new home whose ssh_config is config, with an inventory unless that is "".
func as(t *testing.T, config, inventory, mark string, args ...string) (stdout string, err error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{".ssh/config": config, "config/fairlead/inventory.yaml": inventory} {
		if text != "" {
			require.NoError(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
	}
	env := map[string]string{"HOME": dir, "XDG_CONFIG_HOME": filepath.Join(dir, "config"), "XDG_STATE_HOME": filepath.Join(dir, "state"),
		"FAIRLEAD_KEEPER": "off", "CLAUDECODE": mark}
	ios, _, out, errOut := iostreams.Test()
	f, done := newFactory(ios, func(name string) string { return env[name] })
	f.SSHHosts = &sshhosts.Book{Loader: sshconfig.Loader{Home: dir, SystemDir: filepath.Join(dir, "etc")}}
	err = Run(t.Context(), f, args)
	require.NoError(t, done())
	t.Log(errOut.String())
	return out.String(), err
}

const (
	twoHosts = "Host web1 web2\n  Port 2222\nHost *.example.com\n"
	listing  = "version: 1\nhosts: [{name: db1, tier: dev}, {name: web2, tier: dev, addr: 10.0.0.2}]\n"
)

func TestWithoutAnInventoryTheHostsAreThoseOfSSHConfig(t *testing.T) {
	out, err := as(t, twoHosts, "", "", "hosts", "list")
	require.NoError(t, err)
	assert.Regexp(t, `^web1\tssh\t-\t-\t-\t-\t/.*/\.ssh/config:1\nweb2\tssh\t-\t-\t-\t-\t/.*/\.ssh/config:1\n$`, out)
	out, err = as(t, twoHosts, "", "", "hosts", "list", "web[2-2]", "--json")
	require.NoError(t, err)
	assert.Regexp(t, `^\{"name":"web2",.*"tier":"prod","source":"/.*config:1"\}\n$`, out)
	_, err = as(t, twoHosts, "", "", "hosts", "list", "wbe1")
	assert.EqualError(t, err, "hosts: no host named wbe1 (did you mean web1?)")
	_, err = as(t, "Host *\n", "", "", "hosts", "list")
	assert.ErrorContains(t, err, "there is no inventory at ")
	_, err = as(t, "Host \"\n", "", "", "hosts", "list")
	assert.ErrorContains(t, err, "config:1")
}

func TestWithAnInventoryHostsOfSSHConfigAreThereWhenAskedFor(t *testing.T) {
	out, err := as(t, twoHosts, listing, "", "hosts", "list")
	require.NoError(t, err)
	assert.Equal(t, "db1\tssh\t-\tdev\t-\t-\nweb2\tssh\t10.0.0.2\tdev\t-\t-\n", out)
	out, err = as(t, twoHosts, listing, "", "hosts", "list", "db1,web1")
	require.NoError(t, err)
	assert.Regexp(t, `^db1\t.*inventory.yaml:2\nweb1\tssh\t.*config:1\n$`, out)
	out, err = as(t, twoHosts, listing, "", "hosts", "list", "--ssh-config")
	require.NoError(t, err)
	assert.Regexp(t, `^web1\t.*config:1\nweb2\tssh\t-.*\n$`, out)
	_, err = as(t, twoHosts, listing, "", "hosts", "list", "web*", "-x", "web1")
	assert.ErrorContains(t, err, "no host named web1")
}

func TestAgentsGetOnlyWhatAnInventoryLists(t *testing.T) {
	for _, args := range [][]string{{"hosts", "list"}, {"hosts", "list", "web1"}, {"hosts", "show", "web1"}, {"run", "web1", "--", "true"}, {"hosts", "list", "--ssh-config"}} {
		for _, inv := range []string{"", listing} {
			out, err := as(t, twoHosts, inv, "1", args...)
			assert.NotContains(t, out, "web1", "%s", args)
			if len(args) > 2 || inv == "" {
				assert.Error(t, err, "%s", args)
			}
		}
	}
}

//go:build unix

package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/config"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// Whoever owns a file, or its directory, can write it whatever its mode says.
func TestAFileOfAnotherAccountIsRefused(t *testing.T) {
	needs.Root(t, "give files away")
	dir := filepath.Join(t.TempDir(), "fairlead")
	require.NoError(t, os.Mkdir(dir, 0o700))
	name := filepath.Join(dir, config.FileName)
	require.NoError(t, os.WriteFile(name, []byte("keeper: require"), 0o600))
	link := filepath.Join(t.TempDir(), config.FileName)
	require.NoError(t, os.Symlink(name, link))
	for _, given := range []string{name, dir} {
		require.NoError(t, os.Chown(given, 12345, -1))
		for _, read := range []string{name, link} {
			c, err := config.Load(read)
			require.ErrorContains(t, err, " belongs to another account (uid 12345): it must belong to root or to you")
			require.Zero(t, c)
		}
		require.NoError(t, os.Chown(given, 0, -1))
		c, err := config.Load(link)
		require.NoError(t, err)
		require.Equal(t, config.Require, c.Keeper)
	}
}

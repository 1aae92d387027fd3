//go:build unix

package inventory_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts/inventory"
)

func TestAPipeIsNoInventory(t *testing.T) {
	for _, name := range []string{"i.yaml", "i.json", "i.toml", "hosts.ini", "hosts"} {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, syscall.Mkfifo(path, 0o600))
		_, _, err := inventory.Load(path, quiet)
		assert.ErrorContains(t, err, "is not a regular file", name)
	}
	path := filepath.Join(t.TempDir(), "i.yaml")
	require.NoError(t, os.WriteFile(path, []byte("version: 1\nhosts: [{name: a}]\n"), 0o600))
	_, _, err := inventory.Load(path, quiet)
	require.NoError(t, err)
}

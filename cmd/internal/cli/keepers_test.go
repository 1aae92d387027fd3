package cli

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
)

func TestTheBinaryOfATestStartsNoKeeper(t *testing.T) {
	ios, _, _, _ := iostreams.Test()
	f := &cmdutil.Factory{IO: ios, Getenv: func(string) string { return "" }}
	_, err := keepers{f, func() []string { return nil }, &sync.Once{}}.Start(t.Context())
	require.ErrorContains(t, err, "the binary of a test")
	_, err = keepers{f, func() []string { return []string{"FAIRLEAD_DEFAULTS_USER=root"} }, &sync.Once{}}.Start(t.Context())
	assert.ErrorContains(t, err, "it reads inventories without FAIRLEAD_DEFAULTS_USER, which is set here")
}

func TestPathsAreToldToTheKeeperAsItCanUseThem(t *testing.T) {
	t.Chdir(t.TempDir())
	here, err := os.Getwd()
	require.NoError(t, err)
	for path, want := range map[string]string{"": "", "/run/agent": "/run/agent", "agent": filepath.Join(here, "agent")} {
		got, err := tellable("SSH_AUTH_SOCK", path)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	_, err = tellable("SSH_AUTH_SOCK", "/a\nb")
	assert.EqualError(t, err, "SSH_AUTH_SOCK has a control character in its path, which the keeper cannot be told: use another path, or --keeper off")
	_, err = tellable("the inventory", "/"+strings.Repeat("x", maxTold))
	assert.ErrorContains(t, err, "the inventory: its path is longer than 4096 bytes")

	ios, _, _, _ := iostreams.Test()
	env := map[string]string{"SSH_AUTH_SOCK": "/a\nb", "XDG_RUNTIME_DIR": here, "HOME": here}
	f := &cmdutil.Factory{IO: ios, Getenv: func(name string) string { return env[name] }}
	_, err = keepers{f, func() []string { return nil }, &sync.Once{}}.Find(t.Context())
	assert.ErrorContains(t, err, "SSH_AUTH_SOCK has a control character")
}

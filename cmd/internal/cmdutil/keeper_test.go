package cmdutil_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/config"
	"github.com/fairlead-ssh/fairlead/cmd/internal/iostreams"
	"github.com/fairlead-ssh/fairlead/cmd/internal/keeper/client"
)

func TestTheFlagComesBeforeTheEnvironmentAndThatBeforeTheSettings(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "fairlead"), 0o700))
	env := map[string]string{"XDG_CONFIG_HOME": dir}
	f := factory(env)
	mode := func() config.KeeperMode {
		m, err := f.KeeperMode()
		require.NoError(t, err)
		return m
	}
	assert.Equal(t, config.Auto, mode())

	file := filepath.Join(dir, "fairlead", "config.yaml")
	require.NoError(t, os.WriteFile(file, []byte("keeper: off\n"), 0o600))
	f = factory(env) // the settings are read once
	assert.Equal(t, config.Off, mode())
	env["FAIRLEAD_KEEPER"] = "require"
	assert.Equal(t, config.Require, mode())
	f.KeeperFlag = config.Auto
	assert.Equal(t, config.Auto, mode())

	f.KeeperFlag = ""
	env["FAIRLEAD_KEEPER"] = "on"
	_, err := f.KeeperMode()
	var usage *cmdutil.UsageError
	require.ErrorAs(t, err, &usage)
	assert.EqualError(t, err, `FAIRLEAD_KEEPER must be auto, off or require, and not "on"`)
	env["FAIRLEAD_KEEPER"] = ""
	require.NoError(t, os.WriteFile(file, []byte("\nkeper: off\n"), 0o600))
	f = factory(env)
	_, err = f.KeeperMode()
	require.ErrorAs(t, err, &usage)
	assert.ErrorContains(t, err, file+`:2: unknown key "keper"`)
}

// noKeepers is a machine on which none can be started.
type noKeepers struct{}

func (noKeepers) Find(context.Context) (*client.Client, error) { return nil, cmdutil.ErrNoKeeper }
func (noKeepers) Start(context.Context) (*client.Client, error) {
	return nil, errors.New("keeper: the disk\nis full")
}

func TestWithoutAKeeperACommandGoesOnUnlessOneIsRequired(t *testing.T) {
	ios, _, _, errOut := iostreams.Test()
	f := &cmdutil.Factory{IO: ios, Getenv: func(string) string { return "" }, Keepers: noKeepers{}}
	c, err := f.Keeper(t.Context())
	require.NoError(t, err)
	assert.Nil(t, c)
	assert.Equal(t, "fairlead: going on without a keeper: the disk; is full\n", errOut.String())

	f.KeeperFlag = config.Require
	_, err = f.Keeper(t.Context())
	assert.EqualError(t, err, "no keeper is available, and --keeper require needs one: keeper: the disk\nis full")

	errOut.Reset()
	f.KeeperFlag = config.Off
	c, err = f.Keeper(t.Context())
	require.NoError(t, err)
	assert.Nil(t, c)
	assert.Empty(t, errOut.String())
}

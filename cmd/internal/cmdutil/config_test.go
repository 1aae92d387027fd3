package cmdutil

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// One call of the program goes by one reading of the settings, mistakes in them included.
func TestTheSettingsAreReadOnce(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "fairlead", "config.yaml")
	require.NoError(t, os.Mkdir(filepath.Dir(file), 0o700))
	env := func(name string) string { return map[string]string{"XDG_CONFIG_HOME": dir, "HOME": dir}[name] }
	for text, mistake := range map[string]string{"forks: 7\n": "", "forsk: 7\n": "forsk"} {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		f := &Factory{Getenv: env}
		before, err := f.Config()
		if mistake == "" {
			require.NoError(t, err)
			assert.EqualValues(t, 7, before.Forks)
		} else {
			require.ErrorContains(t, err, mistake)
		}
		require.NoError(t, os.Remove(file))
		after, again := f.Config()
		assert.Equal(t, before, after)
		assert.Equal(t, err, again)
	}
}

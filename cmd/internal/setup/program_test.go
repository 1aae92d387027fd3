package setup_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/setup"
)

// The path of this program may have a version in it. A link to it stays when the next version is installed.
func TestAClientStartsTheLinkThatWasStartedHere(t *testing.T) {
	exe, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	link, other := filepath.Join(dir, "fairlead"), filepath.Join(dir, "other")
	require.NoError(t, os.Symlink(exe, link))
	require.NoError(t, os.WriteFile(other, nil, 0o700))
	t.Chdir(dir)
	t.Setenv("PATH", dir)
	for started, want := range map[string]string{link: link, "./fairlead": link, "fairlead": link, other: exe, "other": exe, "none": exe, "": exe} {
		got, err := setup.Program(started)
		require.NoError(t, err)
		assert.Equal(t, want, got, started)
	}
}

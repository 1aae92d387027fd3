package owned_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/owned"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

func TestADirectoryThatAnotherAccountCouldReplaceIsRefused(t *testing.T) {
	root := os.Geteuid() == 0
	for name, tt := range map[string]struct {
		prepare func(t *testing.T, base string) // base/state/fairlead exists
		root    bool                            // only root can prepare it
		why     string
	}{
		"one's own":                  {prepare: func(*testing.T, string) {}},
		"one that does not exist":    {prepare: func(t *testing.T, base string) { require.NoError(t, os.RemoveAll(filepath.Join(base, "state"))) }},
		"all may write to it":        {prepare: chmod("state/fairlead", 0o777), why: "chmod o-w"},
		"all may write above it":     {prepare: chmod("state", 0o757), why: "chmod o-w"},
		"all may write far above it": {prepare: chmod(".", 0o777), why: "chmod o-w"},
		"as /tmp":                    {prepare: chmod(".", 0o777|os.ModeSticky)},
		"another's":                  {prepare: chown("state/fairlead"), root: true, why: "belongs to uid 12345"},
		"in another's":               {prepare: chown("state"), root: true, why: "chown -h"},
		"far down in another's":      {prepare: chown("."), root: true, why: "belongs to uid 12345"},
		"a group may write":          {prepare: group("state"), root: true, why: "chmod g-w"},
		"a link to another's": {root: true, why: "belongs to uid 12345", prepare: func(t *testing.T, base string) {
			require.NoError(t, os.Rename(filepath.Join(base, "state"), filepath.Join(base, "other")))
			require.NoError(t, os.Chown(filepath.Join(base, "other"), 12345, -1))
			require.NoError(t, os.Symlink("other", filepath.Join(base, "state")))
		}},
		"another's link": {root: true, why: "belongs to uid 12345", prepare: func(t *testing.T, base string) {
			require.NoError(t, os.Rename(filepath.Join(base, "state"), filepath.Join(base, "other")))
			require.NoError(t, os.Symlink("other", filepath.Join(base, "state")))
			require.NoError(t, os.Lchown(filepath.Join(base, "state"), 12345, -1))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.root && !root {
				needs.Part(t, "only root can give directories away")
			}
			base := filepath.Join(t.TempDir(), "base")
			dir := filepath.Join(base, "state", "fairlead")
			require.NoError(t, os.MkdirAll(dir, 0o700))
			tt.prepare(t, base)
			err := owned.Check(dir)
			if tt.why == "" {
				assert.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, tt.why)
		})
	}
	assert.Error(t, owned.Check("relative"))
}

func chmod(name string, mode os.FileMode) func(t *testing.T, base string) {
	return func(t *testing.T, base string) { require.NoError(t, os.Chmod(filepath.Join(base, name), mode)) }
}

func chown(name string) func(t *testing.T, base string) {
	return func(t *testing.T, base string) { require.NoError(t, os.Chown(filepath.Join(base, name), 12345, -1)) }
}

func group(name string) func(t *testing.T, base string) {
	return func(t *testing.T, base string) {
		require.NoError(t, os.Chown(filepath.Join(base, name), -1, 12345))
		require.NoError(t, os.Chmod(filepath.Join(base, name), 0o770))
	}
}

//go:build unix

package rules_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/policy/rules"
	"github.com/fairlead-ssh/fairlead/session/sessiontest/needs"
)

// place writes a policy that is fine into a directory of its own.
func place(t *testing.T) (dir, name string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "fairlead")
	require.NoError(t, os.Mkdir(dir, 0o700))
	name = filepath.Join(dir, "policy.yaml")
	require.NoError(t, os.WriteFile(name, []byte("version: 1\n"), 0o600))
	return dir, name
}

func TestAFileIsReadOnlyIfNobodyElseCanWriteIt(t *testing.T) {
	for name, tt := range map[string]struct {
		spoil func(t *testing.T, dir, name string) string
		want  string // "" is fine
	}{
		"ours":                     {func(t *testing.T, _, name string) string { return name }, ""},
		"readable by all":          {func(t *testing.T, _, name string) string { chmod(t, name, 0o644); return name }, ""},
		"writable by the group":    {func(t *testing.T, _, name string) string { chmod(t, name, 0o620); return name }, "can be written by others (mode 0620)"},
		"writable by all":          {func(t *testing.T, _, name string) string { chmod(t, name, 0o602); return name }, "chmod go-w"},
		"in a directory of all":    {func(t *testing.T, dir, name string) string { chmod(t, dir, 0o777); return name }, "can replace the policy"},
		"in a directory like /tmp": {func(t *testing.T, dir, name string) string { chmod(t, dir, 0o777|os.ModeSticky); return name }, ""},
		"a directory":              {func(_ *testing.T, dir, _ string) string { return dir }, "not a regular file"},
		"a pipe": {func(t *testing.T, _, name string) string {
			require.NoError(t, os.Remove(name))
			require.NoError(t, syscall.Mkfifo(name, 0o600))
			return name
		}, "not a regular file"},
		"through a link":             {func(t *testing.T, _, name string) string { return link(t, name) }, ""},
		"through a link to all's":    {func(t *testing.T, dir, name string) string { chmod(t, dir, 0o777); return link(t, name) }, "can replace the policy"},
		"through a link to writable": {func(t *testing.T, _, name string) string { chmod(t, name, 0o666); return link(t, name) }, "written by others"},
		"another account's": {func(t *testing.T, _, name string) string {
			if os.Getuid() != 0 {
				needs.Part(t, "only root can give files away")
			}
			require.NoError(t, os.Chown(name, 12345, -1))
			return name
		}, "belongs to another account (uid 12345)"},
		"in another account's directory": {func(t *testing.T, dir, name string) string {
			if os.Getuid() != 0 {
				needs.Part(t, "only root can give files away")
			}
			require.NoError(t, os.Chown(dir, 12345, -1))
			return name
		}, "can replace the policy"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, name := place(t)
			f, err := rules.ReadFile(tt.spoil(t, dir, name))
			if tt.want == "" {
				require.NoError(t, err)
				assert.NotNil(t, f)
				return
			}
			require.Error(t, err)
			assert.Contains(t, err.Error(), tt.want)
			assert.Nil(t, f)
		})
	}
}

func chmod(t *testing.T, name string, mode os.FileMode) {
	t.Helper()
	require.NoError(t, os.Chmod(name, mode))
}

func link(t *testing.T, to string) string {
	t.Helper()
	from := filepath.Join(t.TempDir(), "link.yaml")
	require.NoError(t, os.Symlink(to, from))
	return from
}

func TestPlaces(t *testing.T) {
	dir, name := place(t)
	none := filepath.Join(dir, "none.yaml")
	bad := filepath.Join(dir, "bad.yaml")
	require.NoError(t, os.WriteFile(bad, []byte("version: 2\nrulez: []\n"), 0o600))

	cfg, err := rules.Places{System: none, User: none}.Load()
	require.NoError(t, err)
	assert.Equal(t, rules.Config{}, cfg)

	cfg, err = rules.Places{System: name, User: name, Named: true}.Load()
	require.NoError(t, err)
	assert.Equal(t, name, cfg.System.Name)
	assert.NotNil(t, cfg.User)

	_, err = rules.Places{System: none, User: none, Named: true}.Load()
	assert.ErrorIs(t, err, fs.ErrNotExist, "a file that somebody named must exist")

	cfg, err = rules.Places{System: bad, User: bad}.Load()
	require.Error(t, err)
	assert.Equal(t, rules.Config{}, cfg, "nothing is decided by half a policy")
	joined, ok := err.(interface{ Unwrap() []error })
	require.True(t, ok)
	assert.Len(t, joined.Unwrap(), 4)
	var one *rules.FileError
	assert.True(t, errors.As(joined.Unwrap()[3], &one))
}

package cmdutil_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
)

func TestThoseWhoAnswerLookWhereverAServerMayHaveLooked(t *testing.T) {
	for name, tt := range map[string]struct {
		env  map[string]string
		want []string
	}{
		"all is set":            {map[string]string{"HOME": "/h", "XDG_RUNTIME_DIR": "/r", "XDG_STATE_HOME": "/s"}, []string{"/r/fairlead/approvals", "/s/fairlead/approvals", "/h/.local/state/fairlead/approvals"}},
		"no run-time directory": {map[string]string{"HOME": "/h"}, []string{"/h/.local/state/fairlead/approvals"}},
		"a relative path":       {map[string]string{"HOME": "/h", "XDG_RUNTIME_DIR": "r"}, []string{"/h/.local/state/fairlead/approvals"}},
		"the same twice":        {map[string]string{"HOME": "/h", "XDG_STATE_HOME": "/h/.local/state"}, []string{"/h/.local/state/fairlead/approvals"}},
		"no home":               {map[string]string{"XDG_RUNTIME_DIR": "/r"}, []string{"/r/fairlead/approvals"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := &cmdutil.Factory{Getenv: func(k string) string { return tt.env[k] }}
			got, err := f.ApprovalsDirs()
			assert.NoError(t, err)
			assert.Equal(t, tt.want, got)
		})
	}
	_, err := (&cmdutil.Factory{Getenv: func(string) string { return "" }}).ApprovalsDirs()
	assert.Error(t, err, "there is no place at all")
}

func TestApproversAreEnrolledInTheConfiguration(t *testing.T) {
	dir := t.TempDir()
	f := &cmdutil.Factory{Getenv: func(k string) string { return map[string]string{"XDG_CONFIG_HOME": dir}[k] }}
	file, err := f.ApproversFile()
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(dir, "fairlead", "approvers"), file)
	all, err := f.Approvers()
	require.NoError(t, err)
	assert.Empty(t, all)
	require.NoError(t, os.Mkdir(filepath.Dir(file), 0o700))
	require.NoError(t, os.WriteFile(file, []byte("what?\n"), 0o600))
	_, err = f.Approvers()
	assert.ErrorContains(t, err, file+":1: ")

	all, err = (&cmdutil.Factory{Getenv: func(string) string { return "" }}).Approvers()
	require.NoError(t, err)
	assert.Empty(t, all, "there is no place where anybody could be")
}

package copies_test

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session/copies"
	"github.com/fairlead-ssh/fairlead/session/localpty"
)

func TestAQuietCopyTellsNoProgress(t *testing.T) {
	s := newSite(t, hosts.Host{Name: "here", Transport: hosts.Local}, localpty.Dial)
	name := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(name, []byte("content"), 0o600))
	for quiet, told := range map[bool]bool{false: true, true: false} {
		c := &copies.Copy{Plan: copies.Plan{Op: copies.Download, Path: name}, Quiet: quiet, Sink: func(hosts.Host) io.Writer { return io.Discard }}
		cmd, err := c.Command()
		require.NoError(t, err)
		cmd.Keep = 0
		r, err := s.pool.Run(t.Context(), s.host, cmd)
		require.NoError(t, err)
		assert.Equal(t, told, strings.Contains(string(r.Stdout), "progress"), "%s", r.Stdout)
		assert.Contains(t, string(r.Stdout), `"done":"copied"`)
	}
}

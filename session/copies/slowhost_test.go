package copies_test

import (
	"context"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/session"
	"github.com/fairlead-ssh/fairlead/session/copies"
	"github.com/fairlead-ssh/fairlead/session/localpty"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// A host whose shell does not become ready is unreachable for copies in both directions: that is no fault of Fairlead's.
func TestAHostWithoutAReadyShellIsUnreachableBothWays(t *testing.T) {
	h := hosts.Host{Name: "slow", Transport: hosts.Command, Command: []string{"sleep", "100"}}
	p, err := session.NewPool(session.PoolConfig{Dial: localpty.Dial, Session: session.Config{
		Principal: "operator/test", Policy: policy.AllowAll, Audit: audit.Discard{}, Ready: 300 * time.Millisecond,
	}})
	require.NoError(t, err)
	defer p.Close()
	file := filepath.Join(tempDir(t), "file")
	write(t, file, []byte("text"), 0o644)
	local, err := copies.NewLocal([]string{file})
	require.NoError(t, err)
	for _, c := range []*copies.Copy{
		{Plan: copies.Plan{Op: copies.Upload, Path: "/tmp/to", Entries: local.Entries}, Source: func(hosts.Host) io.Reader { return local.Reader() }},
		{Plan: copies.Plan{Op: copies.Download, Path: "/tmp/from"}, Sink: func(hosts.Host) io.Writer { return io.Discard }},
		{Plan: copies.Plan{Op: copies.Download, Path: "/tmp/*"}, Sink: func(hosts.Host) io.Writer { return io.Discard }},
		{Plan: copies.Plan{Op: copies.Download, Path: "from"}, Sink: func(hosts.Host) io.Writer { return io.Discard }},
	} {
		cmd, err := c.Command()
		require.NoError(t, err)
		for _, r := range p.Each(context.Background(), []hosts.Host{h}, cmd) {
			assert.Equal(t, session.StatusUnreachable, r.Status, "%s %s", c.Plan.Op, c.Plan.Path)
			assert.ErrorContains(t, errOf(r), "the host was not ready for it within 300ms")
		}
	}
}
